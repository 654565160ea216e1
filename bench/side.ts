import type { Turn } from "./workload.ts";

/** How many items a page shows. */
export const pageSize = 50;

/** Where in a session a page lies; `pinned` is the newest page of an older view. */
export type Place = "newest" | "middle" | "oldest" | "pinned";

export const places: readonly Place[] = ["newest", "middle", "oldest", "pinned"];

/** How much of a session a pinned view shows. */
export const pinnedShare = 0.75;

/** How safely a commit is on disk when it returns. */
export type Synchronous = "NORMAL" | "FULL";

/** One of the two that are compared: the same work through either. */
export interface Side {
  /** Adds a session of exactly so many history items; answers the number of its next turn. */
  seed(session: string, items: number): Promise<number>;
  /** Reads a page of 50 items as objects. */
  page(session: string, place: Place): Promise<readonly unknown[]>;
  /** Appends one turn, in one transaction. */
  append(session: string, turn: Turn): Promise<void>;
  close(): Promise<void>;
}

/** Adds a session that holds these items as they are; only the floor can. */
export type SeedItems = (session: string, items: readonly unknown[]) => Promise<void>;
