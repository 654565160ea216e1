import { execFileSync } from "node:child_process";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { postgresStore } from "@orcha/server/postgres";
import type { Cluster } from "./cluster.ts";
import type { Effort } from "./effort.ts";
import { openOrcha } from "./orcha-file.ts";
import { orchaOn, type OrchaSide } from "./orcha.ts";
import type { Part } from "./part.ts";
import { exceed, type Result, type Rounds } from "./result.ts";

/** The most megabytes that a longer session may take on top of a shorter one. */
const growthTarget = 15;

// Compiled: types that are stripped at the start take memory of their own.
const child = fileURLToPath(new URL("dist/memory-child.js", import.meta.url));

/** Memory of a process that reads 50 pages of a session, short or long, on both databases. */
export async function memoryPart(directory: string, cluster: Cluster, effort: Effort): Promise<Omit<Part, "seconds">> {
  const file = join(directory, "memory.db");
  await fill(await openOrcha(file, "NORMAL"), effort);
  const url = await cluster.database("memory");
  await cluster.hurry(url, true);
  await fill(orchaOn(await postgresStore({ connectionString: url })), effort);

  const results = [...measure("SQLite", "sqlite", file, effort), ...measure("Postgres", "postgres", url, effort)];
  const title = "Memory: the most that a process of its own holds while it reads 50 pages";
  return { name: "memory", title, sizes: "items", values: "more", results };
}

async function fill(orcha: OrchaSide, { memoryLengths }: Effort): Promise<void> {
  for (const items of memoryLengths) await orcha.seed(nameOf(items), items);
  await orcha.close();
}

function measure(name: string, kind: string, address: string, { memoryLengths, processes }: Effort): Result[] {
  const [short, long] = memoryLengths;
  const bare: Rounds = [];
  const shortest: Rounds = [];
  const longest: Rounds = [];
  for (let round = 0; round < processes; round += 1) {
    bare.push(megabytesOf([kind, address]));
    shortest.push(megabytesOf([kind, address, nameOf(short)]));
    longest.push(megabytesOf([kind, address, nameOf(long)]));
  }
  return [
    exceed({ measure: `${name}, 50 pages`, size: short, against: "driver alone" }, bare, shortest),
    exceed({ measure: `${name}, 50 pages`, size: long, against: "driver alone" }, bare, longest),
    exceed({ measure: `${name}, 50 pages`, size: long, against: `orcha at ${short}`, target: growthTarget }, shortest, longest),
  ];
}

function megabytesOf(parameters: readonly string[]): number {
  return Number(execFileSync(process.execPath, [child, ...parameters], { encoding: "utf8" })) / 2 ** 20;
}

function nameOf(items: number): string {
  return `session-${items}`;
}
