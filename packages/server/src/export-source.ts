import { OrchaError, type Agents, type SessionList } from "@orcha/contract";
import { refOf, type Call } from "./call.ts";
import { chunk, Reading, readSnapshot, readWholeEvent, type ListInput } from "./reading.ts";
import type { SessionRef, Store } from "./store/store.ts";

/** A session of one tenant. */
export type SessionName = Omit<SessionRef, "tenant">;

/** What an export reads: a store, or a server. */
export interface ExportSource {
  /** How many events are read at once. */
  chunk: number;
  list(input: Pick<ListInput, "agent" | "pageSize" | "cursor">): Promise<SessionList>;
  /** How many events a session has; "none" where there is no such session, "hidden" where its agent isn't known, so that it can't be read. */
  sequenceOf(name: SessionName): Promise<number | "none" | "hidden">;
  /** The stored text of the events `from` to `to`. Throws `storage_error` for one that is damaged. */
  bodies(name: SessionName, from: number, to: number): Promise<readonly string[] | undefined>;
}

/** Reads from a store, as one caller. */
export function storeSource({ agents, store }: { agents: Agents; store: Store }, call: Call): ExportSource {
  const reading = new Reading(agents, store);
  return {
    chunk,
    list: (input) => reading.list(call, input),
    async sequenceOf(name) {
      const snapshot = await store.snapshot(refOf(call, name));
      return snapshot === undefined ? "none" : readSnapshot(snapshot).sequence;
    },
    async bodies(name, from, to) {
      const bodies = await store.events(refOf(call, name), from, to);
      const damaged = bodies?.findIndex((body) => !readWholeEvent(body)) ?? -1;
      if (damaged !== -1) throw damagedEvent(name, from + damaged);
      return bodies;
    },
  };
}

/** A bundle holds whole sessions only. */
export function damagedEvent({ sessionId }: SessionName, sequence: number): OrchaError {
  return new OrchaError("storage_error", `event ${sequence} of session ${JSON.stringify(sessionId)} is damaged, so it can't be exported`);
}

/** Every id, the newest update first; what moved to the front while the list was read is picked up from there. */
export async function allIds(source: ExportSource, agent: string): Promise<readonly string[]> {
  const ids = new Set<string>();
  for (let known = -1; known !== ids.size; ) {
    known = ids.size;
    let cursor: string | undefined;
    do {
      const { items, nextCursor } = await source.list({ agent, pageSize: 100, ...(cursor === undefined ? {} : { cursor }) });
      const fresh = items.filter(({ sessionId }) => !ids.has(sessionId));
      for (const { sessionId } of fresh) ids.add(sessionId);
      // On the second way through, a page of nothing new ends it.
      cursor = known > 0 && fresh.length === 0 ? undefined : nextCursor;
    } while (cursor !== undefined);
  }
  return [...ids];
}
