import { invalidInput } from "@orcha/contract";
import type { PageQuery } from "./store.ts";

/** A half-open range of positions, oldest first. */
export interface Window {
  start: number;
  end: number;
}

/** Turns a page into positions: page 1 is the newest, and the oldest page is the short one. */
export function pageWindow(total: number, { page, pageSize }: PageQuery): Window {
  const end = Math.max(0, total - (page - 1) * pageSize);
  return { start: Math.max(0, end - pageSize), end };
}

/** The log position that a page is computed at. Throws `invalid_input` where it lies in the future. */
export function pinnedSequence(current: number, { throughSequence }: PageQuery): number {
  if (throughSequence === undefined) return current;
  if (throughSequence <= current) return throughSequence;
  throw invalidInput(["throughSequence"], `must be from 1 to ${current}, the session's sequence`);
}
