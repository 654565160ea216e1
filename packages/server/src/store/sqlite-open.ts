import { invalidInput, OrchaError } from "@orcha/contract";
import Database from "better-sqlite3";
import { sqliteApplicationId, sqliteMigrations } from "./migrations.ts";
import { whenFree } from "./sqlite-busy.ts";

/** Where and how a SQLite store keeps its file. */
export interface SqliteOptions {
  /** Path of the database file; made where there is none. */
  file: string;
  /**
   * `FULL` (default): what was acknowledged is on disk. `NORMAL`: a power cut may lose the last acknowledged writes,
   * never the file's integrity.
   */
  synchronous?: "FULL" | "NORMAL";
  /** Called with each statement's SQL before it runs, for tracing. */
  trace?: (sql: string) => void;
}

/** Opens a database file and brings its schema up to date. Throws `storage_error` for a foreign or a newer file, `invalid_input` for no path. */
export async function openSqlite(options: SqliteOptions): Promise<Database.Database> {
  const { file, synchronous = "FULL", trace } = options;
  // SQLite takes a blank name for a database that is gone once it is closed, and a program may get one from a variable.
  if (typeof file !== "string" || file.trim() === "") throw invalidInput(["file"], "must be the path of the database file");
  const database = await whenFree(() => {
    const verbose = trace && ((sql?: unknown) => trace(String(sql)));
    return new Database(file, { timeout: 0, ...(verbose ? { verbose } : {}) });
  });
  try {
    await whenFree(() => {
      database.pragma("journal_mode = WAL");
      database.pragma(`synchronous = ${synchronous}`);
      // A checkpoint holds up the event loop: four times fewer of them, and the log is cut back to 16 MiB after each.
      database.pragma("wal_autocheckpoint = 4000");
      database.pragma("journal_size_limit = 16777216");
    });
    await whenFree(() => database.transaction(() => migrate(database, file)).immediate());
  } catch (error) {
    database.close();
    throw error;
  }
  return database;
}

/** Commits what `run` does without waiting for the disk; the file stays whole through a power cut. */
export function unsynced<T>(database: Database.Database, { synchronous = "FULL" }: SqliteOptions, run: () => T): T {
  if (synchronous !== "FULL") return run();
  database.pragma("synchronous = NORMAL");
  try {
    return run();
  } finally {
    database.pragma("synchronous = FULL");
  }
}

function migrate(database: Database.Database, file: string): void {
  const version = Number(database.pragma("user_version", { simple: true }));
  const owner = Number(database.pragma("application_id", { simple: true }));
  const newest = sqliteMigrations.at(-1)?.version ?? 0;
  const tables = database.prepare("SELECT count(*) FROM sqlite_schema").pluck().get();
  if (owner !== sqliteApplicationId && (tables !== 0 || version !== 0)) {
    throw new OrchaError("storage_error", `${file} holds a database that is not Orcha's`);
  }
  if (version > newest) {
    const message = `${file} is of schema ${version}; this server knows up to ${newest}: upgrade the server`;
    throw new OrchaError("storage_error", message);
  }
  if (version === newest) return;
  for (const migration of sqliteMigrations) if (migration.version > version) database.exec(migration.sql);
  database.pragma(`application_id = ${sqliteApplicationId}`);
  database.pragma(`user_version = ${newest}`);
}
