import { randomUUID } from "node:crypto";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { memoryStore, type Store } from "@orcha/server";
import { postgresStore, type PostgresOptions } from "@orcha/server/postgres";
import { sqliteStore, type SqliteOptions } from "@orcha/server/sqlite";
import pg from "pg";
import { afterAll, afterEach, describe, inject } from "vitest";

/** Makes empty stores that are closed, and whose files are removed, after the test. */
export type MakeStore = () => Promise<Store>;

type OpenStore = () => Promise<Store>;

const makers: Record<string, () => OpenStore> = {
  memory: () => async () => memoryStore(),
  sqlite: () => {
    const folders = temporaryFolders();
    return async () => sqliteIn(await folders(), { synchronous: "NORMAL" });
  },
  postgres: () => {
    const schemas = temporarySchemas();
    return () => postgresIn(schemas());
  },
};

/** Runs the same tests on every store. */
export function describeStores(name: string, tests: (make: MakeStore) => void): void {
  describe.each(Object.entries(makers))(`${name} on %s`, (_store, maker) => {
    const open = maker();
    const opened: Store[] = [];
    afterEach(async () => {
      for (const store of opened.splice(0)) await store.close();
    });
    tests(async () => {
      const store = await open();
      opened.push(store);
      return store;
    });
  });
}

/** Makes folders that are removed when the file's tests are over. */
export function temporaryFolders(): () => Promise<string> {
  const made: string[] = [];
  afterAll(async () => {
    for (const folder of made.splice(0)) await rm(folder, { recursive: true, force: true });
  });
  return async () => {
    const folder = await mkdtemp(join(tmpdir(), "orcha-"));
    made.push(folder);
    return folder;
  };
}

/** Opens a SQLite store in a folder of its own. */
export async function sqliteIn(folder: string, options: Partial<SqliteOptions> = {}): Promise<Store> {
  return sqliteStore({ file: join(folder, "orcha.db"), ...options });
}

/** Names schemas that are dropped when the file's tests are over. */
export function temporarySchemas(): () => string {
  const named: string[] = [];
  afterAll(async () => {
    const client = new pg.Client({ connectionString: inject("postgresUrl") });
    await client.connect();
    for (const schema of named.splice(0)) await client.query(`DROP SCHEMA IF EXISTS "${schema}" CASCADE`);
    await client.end();
  });
  return () => {
    const schema = `test_${randomUUID().replaceAll("-", "")}`;
    named.push(schema);
    return schema;
  };
}

/** Opens a Postgres store in a schema of its own. */
export async function postgresIn(schema: string, options: Partial<PostgresOptions> = {}): Promise<Store> {
  return postgresStore({ connectionString: inject("postgresUrl"), schema, maxConnections: 3, ...options });
}
