import { mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { parseArgs } from "node:util";
import { startChild, type Child } from "../child.ts";
import { machineOf } from "../report.ts";
import { median, ratioOf } from "../sampling.ts";
import { layOut } from "../table.ts";
import type { Operation } from "./child.ts";
import { install } from "./install.ts";
import { peers, quiet, type Peer } from "./peers.ts";

/*
 * Orcha beside the peers that install: one turn appended, and the newest and the oldest 50 items, in rounds that go from
 * one process to the next. Prints how much longer than the floor everybody takes.
 */

const operations: readonly Operation[] = ["append", "newest", "oldest"];
/** Items of a session, and how many sessions take the turns. */
const lengths: readonly [items: number, sessions: number][] = [
  [100, 20],
  [1000, 4],
  [10_000, 1],
];
const rounds = 5;

const { values } = parseArgs({ options: { folder: { type: "string" } } });
const directory = mkdtempSync(join(tmpdir(), "orcha-bench-peers-"));
const packages = values.folder === undefined ? join(directory, "packages") : resolve(values.folder);
Object.assign(process.env, quiet);
try {
  const there = await installAll();
  const rows: string[][] = [];
  for (const [items, sessions] of lengths) rows.push(...(await measureLength(there, items, sessions)));
  const others = there.filter(({ name }) => name !== "floor").map(({ name }) => name);
  console.log(`\n${machineOf()}\n\n${layOut(["measure", "items", "floor", ...others], rows)}`);
  console.log(`\nMultiples of the floor, which is given in milliseconds: medians of ${rounds} rounds.`);
} finally {
  rmSync(directory, { recursive: true, force: true });
}

async function installAll(): Promise<Peer[]> {
  console.error("Installing the peers, which takes a minute or two …");
  const faults = await Promise.all(peers.map((peer) => install(peer, folderOf(peer))));
  return peers.filter((peer, index) => {
    if (faults[index] !== undefined) console.log(`${peer.name} is left out, it doesn't install: ${faults[index]}`);
    return faults[index] === undefined;
  });
}

function folderOf({ name }: Peer): string {
  return join(packages, name);
}

async function measureLength(there: readonly Peer[], items: number, sessions: number): Promise<string[][]> {
  const data = join(directory, `data-${items}`);
  mkdirSync(data, { recursive: true });
  const running = new Map<string, Child>();
  const times = new Map<string, number[]>();
  try {
    for (const peer of there) {
      console.error(`Filling ${peer.name} with sessions of ${items.toLocaleString("en")} items …`);
      const parameters = [peer.name, folderOf(peer), data, String(items), String(sessions)];
      const child = await startChild("peers/child", parameters, "ignore");
      if (child.hello === "ready") running.set(peer.name, child);
      else {
        child.stop();
        console.log(`${peer.name} at ${items} is left out: ${String(child.hello).split("\n")[0]}`);
      }
    }
    for (let round = 0; round <= rounds; round += 1) {
      for (const operation of operations) {
        for (const [name, child] of running) {
          const milliseconds = Number(await child.ask(operation));
          // The first round warms up.
          if (round === 0) continue;
          const key = `${operation} ${name}`;
          times.set(key, [...(times.get(key) ?? []), milliseconds]);
        }
      }
    }
  } finally {
    for (const child of running.values()) child.stop();
  }
  const timesOf = (operation: Operation, name: string) => times.get(`${operation} ${name}`) ?? [];
  return operations.map((operation) => {
    const base = timesOf(operation, "floor");
    const ratios = there.filter(({ name }) => name !== "floor").map(({ name }) => ratioOf(timesOf(operation, name), base));
    return [
      operation === "append" ? "append one turn" : `${operation} 50`,
      items.toLocaleString("en"),
      `${median(base).toFixed(4)} ms`,
      ...ratios.map((ratio) => (Number.isNaN(ratio) ? "-" : ratio.toFixed(1))),
    ];
  });
}
