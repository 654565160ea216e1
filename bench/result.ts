import { median, ratioOf } from "./sampling.ts";

/** Medians in milliseconds, one for each round. */
export type Rounds = number[];

/** One line of the report. */
export interface Result {
  measure: string;
  items: number;
  /** What Orcha is held against. */
  against: string;
  baseMs: number;
  orchaMs: number;
  ratio: number;
  /** The largest ratio that is fine; absent where nobody promised one. */
  target?: number;
}

/** Compares what Orcha took with what it is held against, round by round. */
export function compare(
  line: Pick<Result, "measure" | "items" | "against" | "target">,
  base: Rounds,
  orcha: Rounds,
): Result {
  return { ...line, baseMs: median(base), orchaMs: median(orcha), ratio: ratioOf(orcha, base) };
}

export function isWithin({ ratio, target }: Result): boolean {
  return target === undefined || ratio <= target;
}
