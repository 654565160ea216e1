import { lookupsOf, OrchaError, type SessionEvent } from "@orcha/contract";
import { writeOfPlaced } from "./batch.ts";
import { chunk } from "./reading.ts";
import type { SessionRef, Store } from "./store/store.ts";

/** How many bytes of the file one piece may span. */
const maxChunkBytes = 4_194_304;

/** One session that grows piece by piece under its staged name, its projections moved along. */
export class ImportTarget {
  private readonly store: Store;
  private readonly staged: SessionRef;
  private readonly name: SessionRef;
  private readonly count: { events: number };
  private readonly newNames: ReadonlyMap<string, string>;
  private waiting: SessionEvent[] = [];
  private startedAt = -1;

  /** `count.events` is kept up to date. `newNames` are the ids of the file's sessions that got another one, by `nameKey`. */
  constructor(store: Store, staged: SessionRef, name: SessionRef, count: { events: number }, newNames: ReadonlyMap<string, string>) {
    this.store = store;
    this.staged = staged;
    this.name = name;
    this.count = count;
    this.newNames = newNames;
  }

  /** Takes an event; true where a piece is full. `position` is how much of the file was read. */
  add(event: SessionEvent, position: number): boolean {
    if (this.startedAt === -1) this.startedAt = position;
    this.waiting.push(event.type === "session.created" ? this.renamed(event) : event);
    return this.waiting.length >= chunk || position - this.startedAt >= maxChunkBytes;
  }

  /** Writes what waits. */
  async flush(): Promise<void> {
    const events = this.waiting;
    if (events.length === 0) return;
    this.waiting = [];
    this.startedAt = -1;
    if (this.count.events === 0) await this.store.create(this.staged, writeOfPlaced(events, undefined));
    else {
      const lookups = [...new Set(events.flatMap(lookupsOf))];
      const written = await this.store.append(this.staged, lookups, (current) => ({ write: writeOfPlaced(events, current), result: true }));
      if (!written) throw new OrchaError("aborted", "another import took this one for dead, since it was silent for a minute: import again");
    }
    this.count.events += events.length;
  }

  private renamed(event: Extract<SessionEvent, { type: "session.created" }>): SessionEvent {
    const { agent, sessionId } = this.name;
    const { lineage } = event.data;
    const data = { ...event.data, agent, sessionId };
    if (lineage?.origin !== "delegated") return { ...event, data };
    // A copy of a delegated session is deleted with the copy that it belongs to, not with the session that was copied.
    const { parentAgent, parentSessionId: former } = lineage;
    const parentSessionId = this.newNames.get(nameKey(parentAgent, former)) ?? former;
    return { ...event, data: { ...data, lineage: { ...lineage, parentSessionId } } };
  }
}

/** Names a session among those of a file. */
export function nameKey(agent: string, sessionId: string): string {
  return JSON.stringify([agent, sessionId]);
}
