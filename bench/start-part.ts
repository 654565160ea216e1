import { spawn, type ChildProcess } from "node:child_process";
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { agent } from "./agents.ts";
import type { Effort } from "./effort.ts";
import { openOrcha } from "./orcha-file.ts";
import type { Part } from "./part.ts";
import { compare, type Result, type Rounds } from "./result.ts";
import { pageSize } from "./side.ts";

/** The most that `orcha serve` may take from its start to the first page, in milliseconds. */
const target = 300;

const items = 10_000;
const session = "start";
const patienceMs = 30_000;

const orcha = fileURLToPath(import.meta.resolve("@orcha/server/config")).replace(/config\.js$/, "orcha.js");
// As TypeScript, as people write it: Node strips the types.
const config = fileURLToPath(new URL("start-config.ts", import.meta.url));
const floor = fileURLToPath(new URL("dist/start-floor-child.js", import.meta.url));

/** From the start of a process to the first page that it answers. */
export async function startPart(directory: string, { starts }: Effort): Promise<Omit<Part, "seconds">> {
  const file = join(directory, "start.db");
  const seeding = await openOrcha(file, "NORMAL");
  await seeding.seed(session, items);
  await seeding.close();
  const bare: Rounds = [];
  const first: Rounds = [];
  const second: Rounds = [];
  // What the process of the benchmark itself needs to ask is loaded by the first request.
  await startOrcha(file, cacheAt(directory, "warm-up"));
  for (let round = 0; round < starts; round += 1) {
    const cache = cacheAt(directory, `cache-${round}`);
    bare.push(await startFloor(file));
    first.push(await startOrcha(file, cache));
    second.push(await startOrcha(file, cache));
  }
  const results: Result[] = [
    compare({ measure: "start to first page", size: items, against: "better-sqlite3" }, bare, second),
    compare({ measure: "start to first page", size: items, against: `${target} ms`, target: 1 }, second.map(() => target), second),
    compare({ measure: "… never started before", size: items, against: "better-sqlite3" }, bare, first),
  ];
  const title = "Start: `orcha serve` from the start of its process to its first page";
  return { name: "start", title, sizes: "items", values: "ratio", results };
}

/** Node keeps compiled code below the folder for temporary files, from the first start on. */
function cacheAt(directory: string, name: string): string {
  const folder = join(directory, name);
  mkdirSync(folder, { recursive: true });
  return folder;
}

async function startFloor(file: string): Promise<number> {
  const start = performance.now();
  const child = spawn(process.execPath, [floor, file, session, String(pageSize)], { stdio: ["ignore", "pipe", "inherit"] });
  await heard(child, /\n/);
  const took = performance.now() - start;
  await ended(child);
  return took;
}

async function startOrcha(file: string, temporary: string): Promise<number> {
  const parameters = [orcha, "serve", "--config", config, "--file", file, "--port", "0"];
  const start = performance.now();
  const child = spawn(process.execPath, parameters, {
    stdio: ["ignore", "pipe", "ignore"],
    env: { ...process.env, TMPDIR: temporary },
  });
  try {
    const url = /http:\S+/.exec(await heard(child, /http:\S+\n/))?.[0];
    const input = JSON.stringify({ json: { agent, sessionId: session, page: 1, pageSize } });
    const response = await fetch(`${url}/rpc/history?data=${encodeURIComponent(input)}`);
    const text = await response.text();
    if (!response.ok) throw new Error(`orcha serve answers ${response.status}: ${text.slice(0, 300)}`);
    return performance.now() - start;
  } finally {
    // It keeps what it compiled when it ends by itself.
    child.kill("SIGTERM");
    await ended(child);
  }
}

/** Reads what a process prints until it matches. */
function heard(child: ChildProcess, pattern: RegExp): Promise<string> {
  return new Promise((resolve, reject) => {
    let text = "";
    const timer = setTimeout(() => child.kill("SIGKILL"), patienceMs);
    child.stdout?.setEncoding("utf8").on("data", (chunk: string) => {
      text += chunk;
      if (!pattern.test(text)) return;
      clearTimeout(timer);
      resolve(text);
    });
    child.once("exit", () => {
      clearTimeout(timer);
      reject(new Error(`a process ended after ${JSON.stringify(text.slice(0, 300))}`));
    });
  });
}

function ended(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return Promise.resolve();
  const timer = setTimeout(() => child.kill("SIGKILL"), patienceMs);
  return new Promise((resolve) => {
    child.once("exit", () => {
      clearTimeout(timer);
      resolve();
    });
  });
}
