import type { Result } from "./result.ts";

/** The parts of a run, in their order. */
export const partNames = ["sqlite", "lists", "postgres", "disk", "memory"] as const;

export type PartName = (typeof partNames)[number];

/** One table of the report. */
export interface Part {
  name: PartName;
  title: string;
  /** What its sizes count. */
  sizes: "items" | "sessions";
  /** What its values are: measured by base, or measured less base. */
  values: "ratio" | "more";
  /** What stands above the table. */
  notes?: string;
  results: Result[];
  seconds: number;
}
