import { createSessions, type Sessions, type Store } from "@orcha/server";
import { nodeSurroundings } from "@orcha/server/node";
import { agent, agents } from "./agents.ts";
import { eventsOf } from "./events.ts";
import { listedBy, listSize, metadataOf, updatedAtOf, type ListPage, type ListSide } from "./list-side.ts";
import { call } from "./orcha.ts";
import type { Turn } from "./workload.ts";

/** How many sessions are made at once: on Postgres, each on its own connection. */
const lanesAtOnce = 8;

/** Orcha's list, through the operations that a transport calls. */
export class OrchaList implements ListSide {
  private readonly store: Store;
  private readonly lane: Lane;
  private cursor: string | undefined;

  constructor(store: Store) {
    this.store = store;
    this.lane = new Lane(store);
  }

  async seed(sessions: number): Promise<void> {
    const lanes = Array.from({ length: lanesAtOnce }, (_, first) => ({ first, lane: new Lane(this.store) }));
    await Promise.all(
      lanes.map(async ({ first, lane }) => {
        for (let index = first; index < sessions; index += lanesAtOnce) await lane.add(`s${index}`, index, metadataOf(index));
      }),
    );
    await this.findCursor();
  }

  /** Remembers where the second page begins. */
  async findCursor(): Promise<void> {
    const input = { agent, metadata: listedBy, pageSize: listSize };
    this.cursor = (await this.lane.sessions.reading.list(call, input)).nextCursor;
  }

  /** Adds a session as of the moment of that index. */
  add(sessionId: string, index: number, metadata?: Metadata): Promise<void> {
    return this.lane.add(sessionId, index, metadata);
  }

  async list(page: ListPage): Promise<readonly unknown[]> {
    const cursor = page === "first" || this.cursor === undefined ? {} : { cursor: this.cursor };
    const { items } = await this.lane.sessions.reading.list(call, { agent, metadata: listedBy, pageSize: listSize, ...cursor });
    return items;
  }

  /** Appends one turn a second later, which moves the session in every list. */
  async append(sessionId: string, turn: Turn): Promise<void> {
    this.lane.now += 1000;
    await this.lane.sessions.writing.append(call, { agent, sessionId, events: eventsOf(turn) });
  }

  close(): Promise<void> {
    return this.store.close();
  }
}

type Metadata = Record<string, string | number>;

/** One writer with a clock of its own, so that every session has its moment, as the floor's have. */
class Lane {
  now = 0;
  readonly sessions: Sessions;

  constructor(store: Store) {
    this.sessions = createSessions(agents, store, { ...nodeSurroundings, now: () => this.now });
  }

  async add(sessionId: string, index: number, metadata?: Metadata): Promise<void> {
    this.now = updatedAtOf(index);
    await this.sessions.writing.create(call, { agent, sessionId, ...(metadata ? { metadata } : {}) });
  }
}
