import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { eventDataSchemas } from "@orcha/contract";
import { postgresStore } from "@orcha/server/postgres";
import Database from "better-sqlite3";
import pg from "pg";
import * as v from "valibot";
import { openCluster } from "./cluster.ts";
import { eventsOf } from "./events.ts";
import { openPostgresFloor } from "./floor/postgres.ts";
import { openFloor } from "./floor/sqlite.ts";
import { openOrcha } from "./orcha-file.ts";
import { orchaOn, type OrchaSide } from "./orcha.ts";
import type { Side } from "./side.ts";
import { Stopwatch, watched } from "./stopwatch.ts";
import { layOut } from "./table.ts";
import { nextTurn, turnOf, type Turn } from "./workload.ts";

/*
 * Tells where the time of a page and of an append goes. Steps that lie inside Orcha are timed where it meets its store;
 * pure ones are done again apart. Medians of different steps need not add up to the median of the whole.
 */

const session = "profiled";
const items = 10_000;
/** How often the least write is done. */
const commits = 1000;
const watch = new Stopwatch();

/** What is profiled, on one database. */
interface Subject {
  name: string;
  samples: number;
  floor: Side;
  orcha: OrchaSide;
  /** Times the least write, as `commit`. */
  commitAlone: () => Promise<void>;
}

const { values } = parseArgs({ options: { only: { type: "string" } } });
if (values.only !== "postgres") await profileSqlite();
if (values.only !== "sqlite") await profilePostgres();

async function profileSqlite(): Promise<void> {
  const directory = mkdtempSync(join(tmpdir(), "orcha-profile-"));
  try {
    const floor = openFloor(join(directory, "floor.db"), "NORMAL");
    const orcha = await openOrcha(join(directory, "orcha.db"), "NORMAL", (store) => watched(store, watch));
    const commitAlone = async () => commitToFile(join(directory, "orcha.db"));
    await profile({ name: "SQLite NORMAL", samples: 2000, floor, orcha, commitAlone });
  } finally {
    rmSync(directory, { recursive: true, force: true });
  }
}

async function profilePostgres(): Promise<void> {
  const cluster = await openCluster();
  try {
    const floor = await openPostgresFloor(await cluster.database("profile_floor"));
    const url = await cluster.database("profile_orcha");
    const orcha = orchaOn(watched(await postgresStore({ connectionString: url }), watch));
    await profile({ name: cluster.about, samples: 1000, floor, orcha, commitAlone: () => commitToDatabase(url) });
  } finally {
    await cluster.remove();
  }
}

async function profile({ name, samples, floor, orcha, commitAlone }: Subject): Promise<void> {
  let next = Math.max(await floor.seed(session, items), await orcha.seed(session, items));

  await twice(samples, async () => {
    await watch.timeAsync("floor", () => floor.page(session, "newest"));
    const page = await watch.timeAsync("orcha", () => orcha.page(session, "newest"));
    const texts = page.map((item) => JSON.stringify(item));
    watch.time("parse", () => texts.map((text): unknown => JSON.parse(text)));
  });
  const selectMs = us("store.historyPage");
  print(`${name}: page, newest`, [
    ["floor, whole", us("floor")],
    ["orcha, whole", us("orcha")],
    ["  store: session row, 50 rows", selectMs],
    ["  JSON.parse of 50 items", us("parse")],
    ["  the rest: snapshot, checks, promises", us("orcha") - selectMs - us("parse")],
  ]);

  for (const withTool of [false, true]) {
    await twice(samples, async () => {
      const turn = turnOf(session, nextTurn(next, withTool));
      next = turn.number + 1;
      await watch.timeAsync("floor", () => floor.append(session, turn));
      await watch.timeAsync("orcha", () => orcha.append(session, turn));
      pureSteps(turn);
    });
    await commitAlone();
    print(`${name}: append, ${withTool ? "turn with tool" : "plain turn"}`, [
      ["floor, whole", us("floor")],
      ["orcha, whole", us("orcha")],
      ["  check the events' schemas", us("schemas")],
      ["  decide: place, project, stringify", us("decide")],
      ["    of that, JSON.stringify of the events", us("stringify")],
      ["  store without decide: look-ups, statements, commit", us("store.append") - us("decide")],
      ["    of that, a transaction of one small row", us("commit")],
      ["  the rest: queue, batch, promises", us("orcha") - us("store.append") - us("schemas")],
    ]);
  }
  await orcha.close();
  await floor.close();
}

/** Does it once to warm up, and once to measure. */
async function twice(samples: number, work: () => Promise<void>): Promise<void> {
  for (let sample = 0; sample < samples; sample += 1) await work();
  watch.clear();
  for (let sample = 0; sample < samples; sample += 1) await work();
}

function pureSteps(turn: Turn): void {
  const events = eventsOf(turn);
  watch.time("schemas", () => events.map(({ type, data }) => v.safeParse(eventDataSchemas[type], data, { abortEarly: true })));
  watch.time("stringify", () => events.map((event) => JSON.stringify(event)));
}

/** The least that any commit costs here: one page changes. */
function commitToFile(file: string): void {
  const database = new Database(file);
  database.pragma("synchronous = NORMAL");
  database.exec("CREATE TABLE IF NOT EXISTS one (n INTEGER)");
  const [begin, insert, commit] = ["BEGIN IMMEDIATE", "INSERT INTO one VALUES (1)", "COMMIT"].map((sql) => database.prepare(sql));
  for (let sample = 0; sample < commits; sample += 1) {
    watch.time("commit", () => {
      begin?.run();
      insert?.run();
      commit?.run();
    });
  }
  database.exec("DROP TABLE one");
  database.close();
}

/** … and there: one round trip that waits for the disk. */
async function commitToDatabase(url: string): Promise<void> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    await client.query("CREATE TABLE one (n INTEGER)");
    for (let sample = 0; sample < commits; sample += 1) {
      await watch.timeAsync("commit", () => client.query({ name: "insert", text: "INSERT INTO one VALUES (1)" }));
    }
    await client.query("DROP TABLE one");
  } finally {
    await client.end();
  }
}

function us(step: string): number {
  return watch.microseconds(step);
}

function print(title: string, steps: readonly [name: string, microseconds: number][]): void {
  const rows = steps.map(([name, microseconds]) => [name, microseconds.toFixed(1)]);
  console.log(`${layOut([title, "p50 µs"], rows)}\n`);
}
