import { statSync } from "node:fs";
import { join } from "node:path";
import { postgresStore } from "@orcha/server/postgres";
import Database from "better-sqlite3";
import pg from "pg";
import type { Cluster } from "./cluster.ts";
import { itemsPerCycle } from "./events.ts";
import { itemsPerCycle as floorItemsPerCycle } from "./floor/items.ts";
import { openPostgresFloor } from "./floor/postgres.ts";
import { openFloor } from "./floor/sqlite.ts";
import { openOrcha } from "./orcha-file.ts";
import { orchaOn } from "./orcha.ts";
import type { Part } from "./part.ts";
import type { Result } from "./result.ts";
import type { Side } from "./side.ts";
import { cycle, turnOf } from "./workload.ts";

/** The most bytes on disk, as a multiple of the JSON of the history items; 2.0 would be fine. */
const target = 3;

/** How many items the session holds. */
const items = 10_000;
const floorTurns = (items / floorItemsPerCycle) * cycle;
const orchaTurns = Math.ceil((items / itemsPerCycle) * cycle);

/** What a database takes, and the JSON of the history items in it, in bytes. */
interface Space {
  taken: number;
  json: number;
}

/** Bytes on disk of one long session, written turn by turn, as conversations are. */
export async function diskPart(directory: string, cluster: Cluster): Promise<Omit<Part, "seconds">> {
  const results: Result[] = [];
  const floorFile = join(directory, "disk-floor.db");
  await fill(openFloor(floorFile, "NORMAL"), floorTurns);
  results.push(lineOf("SQLite, floor", spaceOfFile(floorFile, "history", "payload")));
  const orchaFile = join(directory, "disk-orcha.db");
  await fill(await openOrcha(orchaFile, "NORMAL"), orchaTurns);
  results.push(lineOf("SQLite, orcha", spaceOfFile(orchaFile, "items", "body"), target));

  const floorUrl = await cluster.database("disk_floor");
  await cluster.hurry(floorUrl, true);
  await fill(await openPostgresFloor(floorUrl), floorTurns);
  results.push(lineOf("Postgres, floor", await spaceOfDatabase(floorUrl, "history", "payload")));
  const orchaUrl = await cluster.database("disk_orcha");
  await cluster.hurry(orchaUrl, true);
  await fill(orchaOn(await postgresStore({ connectionString: orchaUrl })), orchaTurns);
  results.push(lineOf("Postgres, orcha", await spaceOfDatabase(orchaUrl, "orcha.items", "body"), target));

  const title = `Disk: bytes an item, one session of ${items.toLocaleString("en")} items written turn by turn`;
  return { name: "disk", title, sizes: "items", values: "ratio", notes: cluster.about, results };
}

async function fill(side: Side, turns: number): Promise<void> {
  const session = "disk";
  const first = await side.seed(session, 0);
  for (let number = first; number < first + turns; number += 1) await side.append(session, turnOf(session, number));
  await side.close();
}

function lineOf(measure: string, { taken, json }: Space, atMost?: number): Result {
  const sizes = { base: json / items, measured: taken / items, value: taken / json };
  return { measure, size: items, against: "items' JSON", unit: "bytes", ...sizes, ...(atMost === undefined ? {} : { target: atMost }) };
}

function spaceOfFile(file: string, table: string, column: string): Space {
  const database = new Database(file);
  // What is still in the log of the last writes counts as well.
  database.pragma("wal_checkpoint(TRUNCATE)");
  const json = database.prepare<[], number>(`SELECT sum(octet_length(${column})) FROM ${table}`).pluck().get() ?? 0;
  database.close();
  return { taken: statSync(file).size, json };
}

/** Tables, indexes and what is stored aside, without the system's catalog. */
async function spaceOfDatabase(url: string, table: string, column: string): Promise<Space> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  const sql = `SELECT (SELECT sum(octet_length(${column})) FROM ${table})::float8 AS json,
    (SELECT sum(pg_total_relation_size(oid)) FROM pg_class
     WHERE relkind = 'r' AND relnamespace IN ('public'::regnamespace, to_regnamespace('orcha')))::float8 AS taken`;
  const [row] = (await client.query<Space>(sql)).rows;
  await client.end();
  if (!row) throw new RangeError("no sizes");
  return row;
}
