import { advance, OrchaError, type Agents, type SessionEvent, type SessionSnapshot, type SessionView } from "@orcha/contract";
import { cancellations, placed, writeOfPlaced, type NewEvent } from "./batch.ts";
import { agentOf, authorOf, refOf, sessionNotFound, type Call } from "./call.ts";
import { checkSequence } from "./changes.ts";
import type { Idempotency } from "./idempotency.ts";
import { breathe, chunk, readWholeEvent, type Reading, type SessionInput } from "./reading.ts";
import { pinnedSequence } from "./store/page.ts";
import type { Current, Store } from "./store/store.ts";
import type { Surroundings } from "./surroundings.ts";

export interface ForkInput extends SessionInput {
  /** The last event to copy; by default all, or all before its end where the session is completed. */
  throughSequence?: number;
  name?: string;
}

interface Parts {
  agents: Agents;
  store: Store;
  reading: Reading;
  idempotency: Idempotency;
  surroundings: Surroundings;
}

/** Copies sessions, so that a conversation goes on from an earlier point without touching the first one. */
export class Forking {
  private readonly parts: Parts;

  constructor(parts: Parts) {
    this.parts = parts;
  }

  /**
   * Copies the events up to a sequence, with their sequences and item ids; calls and runs that are open there end as
   * cancelled. Throws `session_busy` where a run holds the session and no sequence is given.
   */
  async fork(call: Call, input: ForkInput): Promise<SessionSnapshot> {
    agentOf(this.parts.agents, input.agent);
    const ref = refOf(call, input);
    const { sessionId } = await this.parts.idempotency.once<{ sessionId: string }>(call, "fork", input, async (seal) => {
      const current = await this.parts.store.read(ref, []);
      if (!current) throw sessionNotFound(input.sessionId);
      this.checkSource(call, current, input);
      const copy = { ...ref, sessionId: this.parts.surroundings.sessionId() };
      const events = await this.copyOf(call, input, current, copy.sessionId);
      const endings = placed(endingsOf(advance(undefined, new Map(), events).view), events.length + 1, authorOf(call, this.parts.surroundings));
      const outcome = { sessionId: copy.sessionId };
      await this.parts.store.create(copy, writeOfPlaced([...events, ...endings], undefined, seal(outcome)));
      return outcome;
    });
    return this.parts.reading.get(call, { agent: input.agent, sessionId });
  }

  private checkSource(call: Call, current: Current, { throughSequence }: ForkInput): void {
    checkSequence(call, current);
    const { lease } = current;
    if (throughSequence === undefined && lease !== undefined && lease.until > this.parts.surroundings.now()) {
      throw new OrchaError("session_busy", "a run holds this session; fork a throughSequence of it");
    }
  }

  private async copyOf(call: Call, input: ForkInput, { view }: Current, sessionId: string): Promise<SessionEvent[]> {
    const last = pinnedSequence(view.snapshot.sequence, { page: 1, pageSize: 1, ...input });
    const events: SessionEvent[] = [];
    for (let from = 1; from <= last; from += chunk) {
      const bodies = await this.parts.store.events(refOf(call, input), from, Math.min(last, from + chunk - 1));
      if (!bodies) throw sessionNotFound(input.sessionId);
      for (const [index, body] of bodies.entries()) events.push(readForCopy(body, from + index));
      await breathe();
    }
    const end = input.throughSequence === undefined ? events.findIndex(({ type }) => type === "session.completed") : -1;
    const kept = end === -1 ? events : events.slice(0, end);
    const [created, ...rest] = kept;
    if (created?.type !== "session.created") throw damaged(1);
    const { name: earlierName, ...data } = created.data;
    const name = input.name ?? earlierName;
    const lineage = { origin: "forked" as const, sessionId: input.sessionId, throughSequence: kept.length };
    const opening = { ...data, sessionId, ...(name === undefined ? {} : { name }), lineage };
    const renamed = rest.map((event) => (input.name === undefined ? event : withoutName(event)));
    return [{ ...created, timestamp: new Date(this.parts.surroundings.now()).toISOString(), data: opening }, ...renamed];
  }
}

/** A name given to the copy outlives the names that the first session had later. */
function withoutName(event: SessionEvent): SessionEvent {
  if (event.type !== "session.updated") return event;
  const { name: _name, ...data } = event.data;
  return { ...event, data };
}

function readForCopy(body: string, sequence: number): SessionEvent {
  const event = readWholeEvent(body);
  if (!event) throw damaged(sequence);
  return event;
}

function damaged(sequence: number): OrchaError {
  return new OrchaError("storage_error", `event ${sequence} of the session is damaged; fork an earlier throughSequence`);
}

function endingsOf(view: SessionView): NewEvent[] {
  const reason = "the session was forked";
  const error = { code: "cancelled", message: reason };
  const unjudged = view.judging.map(({ name, run }): NewEvent => ({ type: "evaluation.failed", ...(run === undefined ? {} : { run }), data: { name, error } }));
  const endings = [...cancellations(view, reason), ...unjudged];
  const { runStatus } = view.snapshot;
  const isOver = runStatus === undefined || runStatus === "completed" || runStatus === "failed" || runStatus === "stopped";
  return isOver ? endings : [...endings, { type: "run.stopped", data: { reason: "cancelled" } }];
}
