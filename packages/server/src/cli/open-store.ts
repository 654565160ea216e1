import { existsSync } from "node:fs";
import type { Store } from "../store/store.ts";
import type { StoreConfig } from "./config.ts";
import { CommandFailure, wordsOf, wrongUsage } from "./failure.ts";

/** The flags that name a store. */
export interface StoreFlags {
  file?: string;
  database?: string;
}

/** What a command opens: the flag's store before the configuration's. Throws where there is neither. */
export function chosenStore({ file, database }: StoreFlags, configured: StoreConfig | undefined): StoreConfig {
  if (file !== undefined && database !== undefined) throw wrongUsage("give --file or --database, not both");
  // What a shell puts in place of a variable that isn't set.
  if (file?.trim() === "") throw wrongUsage("--file is empty: give the path of the SQLite file");
  if (database?.trim() === "") throw wrongUsage("--database is empty: give an address such as postgres://localhost/orcha");
  if (file !== undefined) return { file };
  if (database !== undefined) return { database };
  if (configured) return configured;
  throw wrongUsage("no store is named: give --file orcha.db, --database postgres://… or --url http://…, or write orcha.config.ts");
}

/** Opens a store, which brings its schema up to date. Where `mustExist`, a misspelt file is not made. */
export async function openStore(store: StoreConfig, { mustExist }: { mustExist: boolean }): Promise<Store> {
  if (typeof store === "function") return made(store);
  if ("database" in store) {
    const { postgresStore } = await driver("pg", "--database", () => import("../store/postgres.ts"));
    const { database: connectionString, schema } = store;
    return postgresStore({ connectionString, ...(schema === undefined ? {} : { schema }) });
  }
  if (mustExist && !existsSync(store.file)) throw new CommandFailure(`there is no file ${store.file}`);
  const { sqliteStore } = await driver("better-sqlite3", "--file", () => import("../store/sqlite.ts"));
  return sqliteStore({ file: store.file });
}

async function made(make: () => unknown): Promise<Store> {
  const store = await make();
  if (isStore(store)) return store;
  throw new CommandFailure("the function that is the configuration's store answers no store");
}

function isStore(value: unknown): value is Store {
  return typeof value === "object" && value !== null && "append" in value && "close" in value;
}

/** Drivers are optional packages. */
async function driver<T>(name: string, flag: string, load: () => Promise<T>): Promise<T> {
  try {
    return await load();
  } catch (error) {
    if (error instanceof Error && "code" in error && error.code === "ERR_MODULE_NOT_FOUND") {
      throw new CommandFailure(`${flag} needs a package that isn't there: npm install ${name}`);
    }
    throw new CommandFailure(`${name} can't be loaded: ${wordsOf(error)}`);
  }
}
