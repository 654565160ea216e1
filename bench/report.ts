import { cpus } from "node:os";
import type { Part } from "./part.ts";
import { isWithin, type Result } from "./result.ts";
import { layOut } from "./table.ts";

/** Everything that a run found out. */
export interface Report {
  machine: string;
  parts: Part[];
  seconds: number;
}

export function machineOf(): string {
  const cores = cpus();
  return `${cores[0]?.model.trim() ?? "unknown CPU"}, ${cores.length} cores, Node ${process.version}, ${process.platform}`;
}

/** Writes a report for people; the last line is the verdict. */
export function textOf({ machine, parts, seconds }: Report): string {
  const results = parts.flatMap((part) => part.results);
  return [machine, ...parts.map(sectionOf), `${verdictOf(results)} (${seconds.toFixed(0)} s)`].join("\n\n");
}

function sectionOf({ title, sizes, values, notes, results, seconds }: Part): string {
  const table = layOut(
    ["measure", sizes, "against", "base", "measured", values, "target", ""],
    results.map((result) => [
      result.measure,
      result.size.toLocaleString("en"),
      result.against,
      amountOf(result, result.base),
      amountOf(result, result.measured),
      result.value.toFixed(2),
      result.target?.toFixed(2) ?? "-",
      result.target === undefined ? "" : isWithin(result) ? "ok" : result.least ? "under" : "over",
    ]),
  );
  return [`## ${title}`, ...(notes === undefined ? [] : ["", notes]), "", table, `${verdictOf(results)} (${seconds.toFixed(0)} s)`].join("\n");
}

/** Milliseconds need their small digits, larger units one, and what is counted none. */
const digits = { ms: 4, µs: 1, "/s": 0, trips: 0, bytes: 0, kB: 1, MB: 1, types: 0 };

function amountOf({ unit }: Result, amount: number): string {
  return `${amount.toFixed(digits[unit])} ${unit}`;
}

function verdictOf(results: readonly Result[]): string {
  const judged = results.filter(({ target }) => target !== undefined);
  return `${judged.filter(isWithin).length} of ${judged.length} within target`;
}
