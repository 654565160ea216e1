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

interface Maker {
  open: () => Promise<Store>;
  /** Once the stores of a test are closed: what they were in is emptied for the next test, where that is quicker than another one. */
  reuse?: () => Promise<void>;
}

const makers: Record<string, () => Maker> = {
  memory: () => ({ open: async () => memoryStore() }),
  sqlite: () => {
    const folders = temporaryFolders();
    return { open: async () => sqliteIn(await folders(), { synchronous: "NORMAL" }) };
  },
  postgres: () => {
    const { take, reuse } = reusableSchemas();
    return { open: () => postgresIn(take()), reuse };
  },
};

/** Runs the same tests on every store. */
export function describeStores(name: string, tests: (make: MakeStore) => void): void {
  describe.each(Object.entries(makers))(`${name} on %s`, (_store, maker) => {
    const { open, reuse } = maker();
    const opened: Store[] = [];
    afterEach(async () => {
      for (const store of opened.splice(0)) await store.close();
      await reuse?.();
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

/** Gives schemas that are empty, if not new: a schema takes ten times as long to make as to empty. */
function reusableSchemas() {
  const schemas = temporarySchemas();
  const free: string[] = [];
  const taken: string[] = [];
  let connected: Promise<pg.Client> | undefined;
  afterAll(async () => (await connected)?.end());

  async function connect(): Promise<pg.Client> {
    const client = new pg.Client({ connectionString: inject("postgresUrl") });
    await client.connect();
    // A test that left something at work in its schema is not waited for.
    await client.query("SET lock_timeout = 1000");
    return client;
  }

  return {
    take: (): string => {
      const schema = free.pop() ?? schemas();
      taken.push(schema);
      return schema;
    },
    reuse: async (): Promise<void> => {
      if (taken.length === 0) return;
      const client = await (connected ??= connect());
      for (const schema of taken.splice(0)) {
        const isEmpty = await client.query(tables.map((table) => `DELETE FROM "${schema}".${table};`).join(" ")).then(() => true, () => false);
        if (isEmpty) free.push(schema);
      }
    },
  };
}

const tables = ["sessions", "session_metadata", "events", "items", "item_lookups", "item_versions", "receipts", "drafts"];

/** Opens a Postgres store in a schema of its own. */
export async function postgresIn(schema: string, options: Partial<PostgresOptions> = {}): Promise<Store> {
  return postgresStore({ connectionString: inject("postgresUrl"), schema, maxConnections: 3, ...options });
}
