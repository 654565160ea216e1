import { spawn } from "node:child_process";
import { existsSync, mkdirSync, writeFileSync } from "node:fs";
import { delimiter, dirname, join } from "node:path";
import type { Peer } from "./peers.ts";

/** The longest that one installation may take; some compile SQLite. */
const patienceMs = 240_000;

/** Installs a peer into a folder of its own, unless it is there already; answers what went wrong, if anything did. */
export async function install({ name, packages, overrides }: Peer, folder: string): Promise<string | undefined> {
  const done = join(folder, "installed");
  if (packages.length === 0 || existsSync(done)) return undefined;
  mkdirSync(folder, { recursive: true });
  const manifest = { name: `bench-${name}`, private: true, type: "module", overrides };
  writeFileSync(join(folder, "package.json"), JSON.stringify(manifest));
  // Imports are looked up from the file that asks for them.
  writeFileSync(join(folder, "load.js"), "export const load = (name) => import(name);\n");
  const fault = await npm(["install", "--no-audit", "--no-fund", "--loglevel=error", ...packages], folder);
  if (fault === undefined) writeFileSync(done, "");
  return fault;
}

function npm(parameters: readonly string[], cwd: string): Promise<string | undefined> {
  return new Promise((resolve) => {
    let words = "";
    // Native parts are built for the Node that npm runs on: it must be this one.
    const env = { ...process.env, PATH: [dirname(process.execPath), process.env["PATH"]].join(delimiter) };
    const child = spawn("npm", parameters, { cwd, env, stdio: ["ignore", "ignore", "pipe"], timeout: patienceMs });
    child.stderr.setEncoding("utf8").on("data", (chunk: string) => {
      words = (words + chunk).slice(-2000);
    });
    child.once("error", (error) => resolve(error.message));
    child.once("close", (code, signal) => {
      if (code === 0) resolve(undefined);
      else resolve(signal ? `it took more than ${patienceMs / 1000} s` : (words.trim().split("\n")[0] ?? `npm ended with ${code}`));
    });
  });
}
