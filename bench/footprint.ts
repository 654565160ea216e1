import Database from "better-sqlite3";
import type { Bed } from "./bed.ts";
import { eventsPerCycle, itemsPerCycle } from "./events.ts";
import { itemsPerCycle as floorItemsPerCycle } from "./floor/items.ts";
import { layOut } from "./table.ts";
import { cycle } from "./workload.ts";

/** What one table holds for each turn of the workload. */
export interface Footprint {
  side: "floor" | "orcha";
  table: string;
  rowsPerTurn: number;
  jsonBytesPerTurn: number;
}

/** The workload's counts by rule, to read the tables by. */
const workloadNote =
  `${cycle} turns are ${floorItemsPerCycle} items of the floor (a call and its result are two) and, in Orcha, ` +
  `${eventsPerCycle} events that make ${itemsPerCycle} items (a call and its result are one)`;

/** Says what each side writes for the same turns, as its file holds it. */
export function footprintOf(bed: Bed & { floorFile: string; orchaFile: string }): Footprint[] {
  const floorTurns = (bed.sessions.length * bed.items * cycle) / floorItemsPerCycle;
  const orchaTurns = (bed.sessions.length * bed.items * cycle) / itemsPerCycle;
  return [
    ...tables("floor", bed.floorFile, ["events", "history"], "payload", floorTurns),
    ...tables("orcha", bed.orchaFile, ["events", "items", "item_versions"], "body", orchaTurns),
  ];
}

/** Writes the footprint for people. */
export function footprintText(footprint: readonly Footprint[]): string {
  const rows = footprint.map(({ side, table, rowsPerTurn, jsonBytesPerTurn }) => [
    `${side} ${table}`,
    rowsPerTurn.toFixed(2),
    jsonBytesPerTurn.toFixed(0),
  ]);
  return `Per turn of the workload: ${workloadNote}.\n${layOut(["table", "rows", "JSON bytes"], rows)}`;
}

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
