import {
  advance,
  cancelledEvents,
  eventVersion,
  lookupsOf,
  lookupsOfItem,
  OrchaError,
  unansweredEvents,
  type EventDataByType,
  type EventInput,
  type EventType,
  type Lineage,
  type Metadata,
  type OpenCall,
  type SessionEvent,
  type SessionView,
} from "@orcha/contract";
import type { Current, Receipt, SessionWrite } from "./store/store.ts";

/** An event on its way into the log: what a caller sends, or what the server adds. */
export interface NewEvent<T extends EventType = EventType> {
  type: T;
  data: EventDataByType[T];
  timestamp?: string;
  run?: number;
}

/** Who writes, and when. */
export interface Author {
  now: number;
  actor?: string;
}

/** What a session is opened with. */
export interface Opening {
  sessionId: string;
  agent: string;
  name?: string;
  metadata: Metadata;
  variables: Record<string, string>;
  lineage?: Lineage;
}

/** The first event of a session. */
export function createdEvent({ sessionId, agent, name, metadata, variables, lineage }: Opening): NewEvent<"session.created"> {
  return {
    type: "session.created",
    data: {
      schemaVersion: 1,
      sessionId,
      agent,
      status: "active",
      ...(name === undefined ? {} : { name }),
      metadata,
      variables,
      ...(lineage ? { lineage } : {}),
    },
  };
}

/** The most calls of a session that may be unanswered at once. */
const maxOpen = 1000;

/** The keys of everything that a batch may change. */
export function lookupsOfBatch(inputs: readonly EventInput[]): string[] {
  return [...new Set(inputs.flatMap(lookupsOf))];
}

/**
 * Adds what a log needs to stay whole: actions that the conversation went on without are closed before the next user or
 * assistant message, and client actions that wait are cancelled when their run ends. With `closeAtEnd`, no action stays
 * open behind the last event either.
 */
export function completeBatch(inputs: readonly EventInput[], view: SessionView | undefined, closeAtEnd = false): EventInput[] {
  const actions = new OpenCalls(view, "action");
  const clientActions = new OpenCalls(view, "client_action");
  const batch: EventInput[] = [];
  for (const input of inputs) {
    for (const closing of closingsBefore(input, actions, clientActions)) {
      batch.push(input.timestamp === undefined ? closing : { ...closing, timestamp: input.timestamp });
    }
    batch.push(input);
    if (input.type === "action.requested") actions.add(input.data);
    if (input.type === "action.completed" || input.type === "action.failed") actions.remove(input.data.callId);
    if (input.type === "client_action.requested") for (const call of input.data.calls) clientActions.add(call);
    if (input.type === "client_action.resolved") for (const { callId } of input.data.results) clientActions.remove(callId);
  }
  return closeAtEnd ? [...batch, ...unansweredEvents(actions.takeAll())] : batch;
}

function closingsBefore(input: EventInput, actions: OpenCalls, clientActions: OpenCalls): EventInput[] {
  switch (input.type) {
    case "message.created":
      return input.data.role === "tool" ? [] : unansweredEvents(actions.takeAll());
    case "run.completed":
    case "run.failed":
    case "run.stopped":
      return cancelledEvents(clientActions.takeAll());
    default:
      return [];
  }
}

/** The calls of one kind that wait, oldest first. */
class OpenCalls {
  /** By a number that counts them. */
  private readonly calls = new Map<number, OpenCall>();
  /** The numbers of each id's calls, so that an answer costs the same however many wait. */
  private readonly numbers = new Map<string, number[]>();
  private count = 0;

  constructor(view: SessionView | undefined, type: "action" | "client_action") {
    for (const call of view?.open ?? []) if (call.type === type) this.add(call);
  }

  add({ callId, name }: OpenCall): void {
    const ofId = this.numbers.get(callId);
    if (ofId) ofId.push(this.count);
    else this.numbers.set(callId, [this.count]);
    this.calls.set(this.count, { callId, name });
    this.count += 1;
  }

  remove(callId: string): void {
    const newest = this.numbers.get(callId)?.pop();
    if (newest !== undefined) this.calls.delete(newest);
  }

  takeAll(): OpenCall[] {
    const taken = [...this.calls.values()];
    this.calls.clear();
    this.numbers.clear();
    return taken;
  }
}

/** Gives each event its place, and works out everything that the store has to write. */
export function writeOf(
  events: readonly NewEvent[],
  current: Current | undefined,
  author: Author,
  receipt?: Receipt,
): SessionWrite {
  const first = (current?.view.snapshot.sequence ?? 0) + 1;
  return writeOfPlaced(placed(events, first, author), current, receipt);
}

/** Works out what the store has to write for events that have their places. */
export function writeOfPlaced(events: readonly SessionEvent[], current: Current | undefined, receipt?: Receipt): SessionWrite {
  const { view, versions, itemCounts } = advance(current?.view, current?.touched ?? new Map(), events);
  if (view.open.length > maxOpen) {
    throw new OrchaError("invalid_input", `a session may have ${maxOpen} unanswered calls; this would make ${view.open.length}`);
  }
  return {
    view,
    events: events.map((event, index) => ({
      sequence: event.sequence,
      itemCount: itemCounts[index] ?? view.itemCount,
      body: JSON.stringify(event),
    })),
    versions: versions.map(({ item, ...version }) => ({
      ...version,
      lookups: version.isNew ? lookupsOfItem(item) : [],
      body: JSON.stringify(item),
    })),
    ...(receipt ? { receipt } : {}),
  };
}

/** Gives events their sequences, from `first` on, and the time and the author where they have none. */
export function placed(events: readonly NewEvent[], first: number, { now, actor }: Author): SessionEvent[] {
  const timestamp = new Date(now).toISOString();
  return events.map((event, index) => {
    const envelope = {
      sequence: first + index,
      v: eventVersion,
      type: event.type,
      timestamp: event.timestamp ?? timestamp,
      ...(event.run === undefined ? {} : { run: event.run }),
      ...(actor === undefined ? {} : { actor }),
      data: event.data,
    };
    // Type and data come from one `NewEvent`, so they belong together; the compiler can't follow that through a spread.
    return envelope as SessionEvent;
  });
}

/** Ends every call that waits: nothing may wait in a session that is over. */
export function cancellations(view: SessionView, reason: string): NewEvent[] {
  const error = { code: "cancelled", message: reason };
  const failed = new OpenCalls(view, "action")
    .takeAll()
    .map((call): NewEvent => ({ type: "action.failed", data: { ...call, error, synthetic: true } }));
  const left = view.open.flatMap(({ type, callId, name, childSessionId: sessionId }): NewEvent[] =>
    type === "subagent" && sessionId !== undefined
      ? [{ type: "subagent.failed", data: { callId, agent: name, sessionId, status: "cancelled", error } }]
      : [],
  );
  return [...failed, ...left, ...cancelledEvents(new OpenCalls(view, "client_action").takeAll())];
}
