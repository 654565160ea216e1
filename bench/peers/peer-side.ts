import { itemsPerCycle } from "../floor/items.ts";
import { cycle, turnOf, type Turn } from "../workload.ts";

/** What is asked of everybody. */
export interface PeerSide {
  /** Adds a session with so many items of the floor; answers the number of its next turn. */
  seed(session: string, items: number): Promise<number>;
  newest(session: string): Promise<readonly unknown[]>;
  oldest(session: string): Promise<readonly unknown[]>;
  append(session: string, turn: Turn): Promise<unknown>;
}

/** What a page is for those who keep a call and its result inside the message: 20 turns, which are 50 items of the floor. */
export const messagesPerPage = 40;

/** The turns of a session of so many items, in batches. */
export function batchesOf(session: string, items: number, batch: number): Turn[][] {
  const turns = turnsOf(items);
  const batches: Turn[][] = [];
  for (let first = 0; first < turns; first += batch) {
    batches.push(Array.from({ length: Math.min(batch, turns - first) }, (_, index) => turnOf(session, first + index)));
  }
  return batches;
}

export function turnsOf(items: number): number {
  return Math.ceil((items / itemsPerCycle) * cycle);
}
