import { spawnSync } from "node:child_process";
import { chmod, mkdir } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { codeOf } from "../harness.ts";
import { sqliteIn, temporaryFolders } from "../stores.ts";
import { clientAt, startServer } from "./process.ts";

const folders = temporaryFolders();
const isRoot = process.getuid?.() === 0;
// Without this right, root is held to the modes of files as anyone.
const dropRights = "setpriv --bounding-set=-dac_override --inh-caps=-dac_override --";
const canDropRights = spawnSync("sh", ["-c", `${dropRights} true`]).status === 0;

test("a full disk: appends are refused with storage_error, nothing is half-written, and the server lives", { timeout: 60_000 }, async () => {
  const file = join(await folders(), "orcha.db");
  // A file of this process may have 2,000 blocks of 1,024 bytes, less than the writes below need.
  const server = await startServer({ sqlite: { file, synchronous: "NORMAL" } }, (command) => `ulimit -f 2000; exec ${command}`);
  const orcha = clientAt(server.url, { retry: false });
  const { sessionId } = await orcha.supportAgent.create();
  const message = { messages: [{ role: "user" as const, content: "x".repeat(100_000) }] };
  let written = 0;
  let refused = "";
  while (written < 100 && refused === "") {
    const { error } = await orcha.supportAgent.append.safe(sessionId, message);
    if (error) refused = `${error.code}: ${error.message}`;
    else written += 1;
  }
  expect(refused).toMatch(/^storage_error: the (disk or the database is full|database file can't be read or written)$/);
  expect(written).toBeGreaterThan(2);
  expect(await codeOf(orcha.supportAgent.append(sessionId, message))).toBe("storage_error");
  const history = await orcha.supportAgent.history(sessionId, { pageSize: 100 });
  expect(history).toMatchObject({ total: written, sequence: written + 1 });
  await server.kill();

  // With room again, the same file goes on from what was acknowledged.
  const store = await sqliteIn(join(file, ".."));
  expect(await store.snapshot({ tenant: "default", agent: "supportAgent", sessionId })).toContain(`"sequence":${written + 1}`);
  await store.close();
});

test.skipIf(isRoot && !canDropRights)("a read-only file is said at start (skipped for a root that can't drop its rights)", async () => {
  const folder = join(await folders(), "locked");
  await mkdir(folder);
  await (await sqliteIn(folder)).close();
  await chmod(join(folder, "orcha.db"), 0o444);
  await chmod(folder, 0o555);
  const starting = startServer({ sqlite: { file: join(folder, "orcha.db") } }, (command) => (isRoot ? `${dropRights} ${command}` : command));
  await expect(starting).rejects.toThrow(/the database (can't be written|file can't be read or written)/);
  await chmod(folder, 0o755);
});

test("a folder in the file's place, and a folder that isn't there, are said at start", async () => {
  const folder = await folders();
  await mkdir(join(folder, "orcha.db"));
  await expect(startServer({ sqlite: { file: join(folder, "orcha.db") } })).rejects.toThrow("can't be read or written");
  await expect(startServer({ sqlite: { file: join(folder, "missing/orcha.db") } })).rejects.toThrow(/director/);
});
