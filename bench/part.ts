import type { Result } from "./result.ts";

/** The parts of a run, in their order. */
export const partNames = ["sqlite", "lists", "postgres", "disk", "memory", "http", "runs", "tails", "start", "client", "types"] as const;

export type PartName = (typeof partNames)[number];

/** One table of the report. */
export interface Part {
  name: PartName;
  title: string;
  /** What its sizes count. */
  sizes: "items" | "sessions" | "readers" | "ms of model" | "bytes minified" | "agents";
  /** What its values are: measured by base, measured less base, or the same for each of what its sizes count. */
  values: "ratio" | "more" | "each";
  /** What stands above the table. */
  notes?: string;
  results: Result[];
  seconds: number;
}
