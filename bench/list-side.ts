/** How many sessions a page of the list shows. */
export const listSize = 20;

/** The metadata entry that is listed by: one session in 20 has it. */
export const listedBy = { tenant: "t3" };

/** The metadata of the session with that index. */
export function metadataOf(index: number): Record<string, string | number> {
  return { tenant: `t${index % 20}`, channel: "web", n: index };
}

/** When the session with that index was updated last, in milliseconds since 1970. */
export function updatedAtOf(index: number): number {
  return 1_760_000_000_000 + index * 1000;
}

/** The first page of a list, or the one behind it. */
export type ListPage = "first" | "second";

/** One of the two that are compared: the same list through either. */
export interface ListSide {
  /** Adds so many sessions with three metadata entries each. */
  seed(sessions: number): Promise<void>;
  /** Lists the newest 20 sessions of one entry as objects, or the 20 behind them. */
  list(page: ListPage): Promise<readonly unknown[]>;
  close(): Promise<void>;
}
