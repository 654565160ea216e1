import { createSessions, type Call, type Sessions, type Store } from "@orcha/server";
import { nodeSurroundings } from "@orcha/server/node";
import { agent, agents } from "./agents.ts";
import { eventsOf, eventsPerCycle, itemsPerCycle, questionOf } from "./events.ts";
import { pageSize, pinnedShare, type Place, type Side } from "./side.ts";
import { cycle, turnOf, type Turn } from "./workload.ts";

/** Who appends and reads: the tenant of servers without tokens. No idempotency key, since the floor has none. */
export const call: Call = { principal: { tenant: "default", scopes: ["read", "write"] } };

/** How many turns one append of the seeding holds: as many cycles as 1,000 events allow. */
const batch = Math.floor(1000 / eventsPerCycle) * cycle;

/** Wires Orcha over a store, without a transport. */
export function sessionsOn(store: Store): Sessions {
  return createSessions(agents, store, nodeSurroundings);
}

/** Makes a side of a store. */
export function orchaOn(store: Store): OrchaSide {
  return new OrchaSide(store, sessionsOn(store));
}

/** Orcha as a side: everything goes through the operations that a transport calls. */
export class OrchaSide implements Side {
  private readonly store: Store;
  private readonly sessions: Sessions;
  private readonly inputs = new Map<string, Map<Place, { page: number; throughSequence?: number }>>();

  constructor(store: Store, sessions: Sessions) {
    this.store = store;
    this.sessions = sessions;
  }

  async seed(session: string, items: number): Promise<number> {
    await this.sessions.writing.create(call, { agent, sessionId: session });
    const turns = Math.floor(items / itemsPerCycle) * cycle;
    for (let first = 0; first < turns; first += batch) {
      const numbers = Array.from({ length: Math.min(batch, turns - first) }, (_, index) => first + index);
      const events = numbers.flatMap((number) => eventsOf(turnOf(session, number)));
      await this.sessions.writing.append(call, { agent, sessionId: session, events });
    }
    const rest = items % itemsPerCycle;
    for (let number = turns; number < turns + rest; number += 1) {
      const events = [questionOf(turnOf(session, number))];
      await this.sessions.writing.append(call, { agent, sessionId: session, events });
    }
    await this.findPlaces(session);
    return turns + rest;
  }

  async page(session: string, place: Place): Promise<readonly unknown[]> {
    const at = this.inputs.get(session)?.get(place);
    if (!at) throw new RangeError(`${session} was not seeded`);
    const { items } = await this.sessions.reading.history(call, { agent, sessionId: session, pageSize, ...at });
    return items;
  }

  /** Every history item, oldest first. */
  async everything(session: string): Promise<unknown[]> {
    const items: unknown[] = [];
    const whole = { agent, sessionId: session, pageSize: 500 };
    const { total } = await this.sessions.reading.history(call, { ...whole, page: 1 });
    for (let page = Math.ceil(total / whole.pageSize); page > 0; page -= 1) {
      items.push(...(await this.sessions.reading.history(call, { ...whole, page })).items);
    }
    return items;
  }

  async append(session: string, turn: Turn): Promise<void> {
    await this.sessions.writing.append(call, { agent, sessionId: session, events: eventsOf(turn) });
  }

  /** Appends as a client does: with a key that lets it send the turn again. */
  async appendOnce(session: string, turn: Turn): Promise<void> {
    const keyed: Call = { ...call, idempotencyKey: crypto.randomUUID() };
    await this.sessions.writing.append(keyed, { agent, sessionId: session, events: eventsOf(turn) });
  }

  close(): Promise<void> {
    return this.store.close();
  }

  /** Works out where the pages of a session lie, for a session that another side seeded. */
  async findPlaces(session: string): Promise<void> {
    const { total, sequence } = await this.sessions.reading.history(call, { agent, sessionId: session, page: 1, pageSize });
    const last = Math.ceil(total / pageSize);
    this.inputs.set(
      session,
      new Map([
        ["newest", { page: 1 }],
        ["middle", { page: Math.floor(last / 2) + 1 }],
        ["oldest", { page: last }],
        ["pinned", { page: 1, throughSequence: Math.floor(sequence * pinnedShare) }],
      ]),
    );
  }
}
