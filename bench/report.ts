import { cpus } from "node:os";
import type { footprintOf } from "./footprint.ts";
import { workloadNote } from "./footprint.ts";
import { isWithin, type Result } from "./result.ts";
import { layOut } from "./table.ts";

/** Everything that a run found out. */
export interface Report {
  machine: string;
  footprint: ReturnType<typeof footprintOf>;
  results: Result[];
  seconds: number;
}

export function machineOf(): string {
  const cores = cpus();
  return `${cores[0]?.model.trim() ?? "unknown CPU"}, ${cores.length} cores, Node ${process.version}, ${process.platform}`;
}

/** Writes a report for people; the last line is the verdict. */
export function textOf({ machine, footprint, results, seconds }: Report): string {
  return [
    machine,
    "",
    `Per turn of the workload: ${workloadNote}.`,
    layOut(
      ["table", "rows", "JSON bytes"],
      footprint.tables.map(({ side, table, rowsPerTurn, jsonBytesPerTurn }) => [
        `${side} ${table}`,
        rowsPerTurn.toFixed(2),
        jsonBytesPerTurn.toFixed(0),
      ]),
    ),
    `file bytes a turn: floor ${footprint.fileBytesPerTurn.floor.toFixed(0)}, orcha ${footprint.fileBytesPerTurn.orcha.toFixed(0)}`,
    "",
    layOut(
      ["measure", "items", "against", "base p50", "orcha p50", "ratio", "target", ""],
      results.map((result) => [
        result.measure,
        result.items.toLocaleString("en"),
        result.against,
        `${result.baseMs.toFixed(4)} ms`,
        `${result.orchaMs.toFixed(4)} ms`,
        result.ratio.toFixed(2),
        result.target?.toFixed(1) ?? "-",
        result.target === undefined ? "" : isWithin(result) ? "ok" : "over",
      ]),
    ),
    "",
    `${verdictOf(results)} (${seconds.toFixed(0)} s)`,
  ].join("\n");
}

function verdictOf(results: readonly Result[]): string {
  const judged = results.filter(({ target }) => target !== undefined);
  return `${judged.filter(isWithin).length} of ${judged.length} within target`;
}
