import { statSync } from "node:fs";
import Database from "better-sqlite3";
import type { Bed } from "./bed.ts";
import { eventsPerCycle, itemsPerCycle } from "./events.ts";
import { itemsPerCycle as floorItemsPerCycle } from "./floor/items.ts";
import { cycle } from "./workload.ts";

/** What one table holds for each turn of the workload. */
export interface Footprint {
  side: "floor" | "orcha";
  table: string;
  rowsPerTurn: number;
  jsonBytesPerTurn: number;
}

/** Says what each side writes for the same turns, as its file holds it, and the bytes of the files. */
export function footprintOf(bed: Bed): { tables: Footprint[]; fileBytesPerTurn: { floor: number; orcha: number } } {
  const floorTurns = (bed.sessions.length * bed.items * cycle) / floorItemsPerCycle;
  const orchaTurns = (bed.sessions.length * bed.items * cycle) / itemsPerCycle;
  return {
    tables: [
      ...tables("floor", bed.floorFile, ["events", "history"], "payload", floorTurns),
      ...tables("orcha", bed.orchaFile, ["events", "items", "item_versions"], "body", orchaTurns),
    ],
    fileBytesPerTurn: { floor: sizeOf(bed.floorFile) / floorTurns, orcha: sizeOf(bed.orchaFile) / orchaTurns },
  };
}

/** The workload's counts by rule, to read the tables by. */
export const workloadNote =
  `${cycle} turns are ${floorItemsPerCycle} items of the floor (a call and its result are two) and, in Orcha, ` +
  `${eventsPerCycle} events that make ${itemsPerCycle} items (a call and its result are one)`;

function tables(side: Footprint["side"], file: string, names: readonly string[], column: string, turns: number): Footprint[] {
  const database = new Database(file, { readonly: true });
  try {
    return names.map((table) => {
      const sql = `SELECT count(*) AS rows, coalesce(sum(octet_length(${column})), 0) AS bytes FROM ${table}`;
      const found = database.prepare<[], { rows: number; bytes: number }>(sql).get();
      return { side, table, rowsPerTurn: (found?.rows ?? 0) / turns, jsonBytesPerTurn: (found?.bytes ?? 0) / turns };
    });
  } finally {
    database.close();
  }
}

function sizeOf(file: string): number {
  const database = new Database(file);
  // What is still in the log of the last writes counts as well.
  database.pragma("wal_checkpoint(TRUNCATE)");
  database.close();
  return statSync(file).size;
}
