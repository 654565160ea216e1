import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { memoryStore, type Store } from "@orcha/server";
import { sqliteStore, type SqliteOptions } from "@orcha/server/sqlite";
import { afterAll, afterEach, describe } from "vitest";

/** Makes empty stores that are closed, and whose files are removed, after the test. */
export type MakeStore = () => Promise<Store>;

const makers: Record<string, (folder: string) => Promise<Store>> = {
  memory: async () => memoryStore(),
  sqlite: (folder) => sqliteStore({ file: join(folder, "orcha.db"), synchronous: "NORMAL" }),
};

/** Runs the same tests on every store. */
export function describeStores(name: string, tests: (make: MakeStore) => void): void {
  describe.each(Object.entries(makers))(`${name} on %s`, (_store, open) => {
    const folders = temporaryFolders();
    const opened: Store[] = [];
    afterEach(async () => {
      for (const store of opened.splice(0)) await store.close();
    });
    tests(async () => {
      const store = await open(await folders());
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
