import { differenceOf, median, ratioOf } from "./sampling.ts";

/** What was measured, once for each round. */
export type Rounds = number[];

/** What a line counts in. */
export type Unit = "ms" | "µs" | "/s" | "trips" | "bytes" | "kB" | "MB" | "types";

/** One line of the report. */
export interface Result {
  measure: string;
  /** How many items or sessions there are. */
  size: number;
  /** What the measured side is held against. */
  against: string;
  unit: Unit;
  base: number;
  measured: number;
  /** What is judged: a ratio, or how much more the measured side takes. */
  value: number;
  /** The largest value that is fine; absent where nobody promised one. */
  target?: number;
  /** The target is the smallest value that is fine instead. */
  least?: boolean;
}

/** What a line is about, before anything was measured. */
export type Line = Pick<Result, "measure" | "size" | "against" | "target" | "least"> & { unit?: Unit };

/** Divides what was measured by what it is held against, round by round. */
export function compare(line: Line, base: Rounds, measured: Rounds): Result {
  return { unit: "ms", ...line, base: median(base), measured: median(measured), value: ratioOf(measured, base) };
}

/** Says how much more was measured than what it is held against. */
export function exceed(line: Line, base: Rounds, measured: Rounds): Result {
  return { unit: "MB", ...line, base: median(base), measured: median(measured), value: differenceOf(measured, base) };
}

export function isWithin({ value, target, least = false }: Result): boolean {
  return target === undefined || (least ? value >= target : value <= target);
}
