import {
  findMetadataFault,
  invalidInput,
  isPlainObject,
  openSnapshot,
  OrchaError,
  projectSnapshot,
  Transcript,
  type AgentMessage,
  type Agents,
  type SessionEvent,
  type SessionEvents,
  type SessionHistory,
  type SessionList,
  type SessionSnapshot,
  type StoredSnapshot,
  type RunStatus,
  type SessionStatus,
} from "@orcha/contract";
import { agentOf, refOf, sessionNotFound, type Call } from "./call.ts";
import type { ListPosition, SessionRef, Store, StoredPage } from "./store/store.ts";

/** Names a session in a call. */
export interface SessionInput {
  agent: string;
  sessionId: string;
}

/** A list knows the id of a session by its snapshot alone. */
type ListedSession = Pick<SessionInput, "agent"> & Partial<SessionInput>;

export interface PageInput extends SessionInput {
  page: number;
  pageSize: number;
  throughSequence?: number;
}

export interface ListInput {
  agent: string;
  pageSize: number;
  cursor?: string;
  status?: SessionStatus;
  runStatus?: RunStatus;
  metadata?: unknown;
}

/** How many events of a log are read at once, so that a long one doesn't hold up other requests. */
export const chunk = 500;

/** Everything that reads sessions and changes nothing. */
export class Reading {
  private readonly agents: Agents;
  private readonly store: Store;

  constructor(agents: Agents, store: Store) {
    this.agents = agents;
    this.store = store;
  }

  async get(call: Call, input: SessionInput): Promise<SessionSnapshot> {
    agentOf(this.agents, input.agent);
    const text = await this.store.snapshot(refOf(call, input));
    if (text === undefined) throw sessionNotFound(input.sessionId);
    return this.snapshotOf(call, input, text);
  }

  /** Reads a stored snapshot; one that is damaged is made again from the log, so that no session's fault ends a list. */
  private async snapshotOf(call: Call, { agent, sessionId }: ListedSession, text: string): Promise<SessionSnapshot> {
    const whole = wholeSnapshot(text);
    if (whole) return whole;
    const ref = refOf(call, { agent, sessionId: sessionId ?? salvageId(text) ?? "" });
    return (await this.snapshotFromLog(ref)) ?? readSnapshot(text);
  }

  private async snapshotFromLog(ref: SessionRef): Promise<SessionSnapshot | undefined> {
    let snapshot: StoredSnapshot | undefined;
    for (let from = 1; ; from += chunk) {
      const bodies = (await this.store.events(ref, from, from + chunk - 1)) ?? [];
      for (const body of bodies) {
        const event = readWholeEvent(body);
        if (event?.type === "session.created") snapshot = openSnapshot(event);
        else if (event && snapshot) snapshot = projectSnapshot(snapshot, event);
      }
      if (bodies.length < chunk) return snapshot;
      await breathe();
    }
  }

  async history(call: Call, input: PageInput): Promise<SessionHistory> {
    return this.composeHistory(call, input, await this.historyPage(call, input));
  }

  /** Reads a page of history as it is stored. */
  async historyPage(call: Call, input: PageInput): Promise<StoredPage> {
    agentOf(this.agents, input.agent);
    const stored = await this.store.historyPage(refOf(call, input), input);
    if (!stored) throw sessionNotFound(input.sessionId);
    return stored;
  }

  /** Makes the answer of a stored page of history. */
  async composeHistory(call: Call, input: PageInput, stored: StoredPage): Promise<SessionHistory> {
    const snapshot = await this.snapshotOf(call, input, stored.snapshot);
    const items = stored.bodies.map(readItem);
    const whole = items.includes(undefined) ? await this.mend(call, input, stored, items, snapshot) : (items as WireItem[]);
    return { items: whole, ...pageFields(stored, input), ...snapshot };
  }

  private async mend(
    call: Call,
    input: PageInput,
    { bodies, start }: StoredPage,
    items: readonly (WireItem | undefined)[],
    { createdAt }: SessionSnapshot,
  ): Promise<WireItem[]> {
    const mended: WireItem[] = [];
    for (const [index, item] of items.entries()) {
      const madeBy = item ? undefined : await this.store.itemMadeBy(refOf(call, input), start + index);
      mended.push(item ?? unreadable(bodies[index] ?? "", madeBy, createdAt));
    }
    return mended;
  }

  async events(call: Call, input: PageInput): Promise<SessionEvents> {
    return this.composeEvents(call, input, await this.eventPage(call, input));
  }

  /** Reads a page of the log as it is stored. */
  async eventPage(call: Call, input: PageInput): Promise<StoredPage> {
    agentOf(this.agents, input.agent);
    const stored = await this.store.eventPage(refOf(call, input), input);
    if (!stored) throw sessionNotFound(input.sessionId);
    return stored;
  }

  /** Makes the answer of a stored page of the log. */
  async composeEvents(call: Call, input: PageInput, stored: StoredPage): Promise<SessionEvents> {
    const snapshot = await this.snapshotOf(call, input, stored.snapshot);
    const events = stored.bodies.map((body, index) => readEvent(body, stored.start + index + 1, snapshot.createdAt));
    return { events, ...pageFields(stored, input), ...snapshot };
  }

  /** Reads a page of a session that this agent delegated. Throws `session_not_found` for any other. */
  async subagentHistory(call: Call, input: PageInput): Promise<SessionHistory> {
    return this.history(call, { ...input, agent: await this.childAgent(call, input) });
  }

  /** Reads a page of the log of a session that this agent delegated. Throws as `subagentHistory` does. */
  async subagentEvents(call: Call, input: PageInput): Promise<SessionEvents> {
    return this.events(call, { ...input, agent: await this.childAgent(call, input) });
  }

  /** The agent that a delegated session belongs to. */
  private async childAgent(call: Call, { agent, sessionId }: SessionInput): Promise<string> {
    const { definition } = agentOf(this.agents, agent);
    for (const child of definition.subagents ?? []) {
      const text = await this.store.snapshot(refOf(call, { agent: child, sessionId }));
      const lineage = text === undefined ? undefined : readSnapshot(text).lineage;
      if (lineage?.origin === "delegated" && lineage.parentAgent === agent) return child;
    }
    throw sessionNotFound(sessionId);
  }

  /** Reads the model's view. Throws `storage_error` for a damaged event: a turn that is missing is a fault of its own. */
  async messages(call: Call, input: SessionInput): Promise<AgentMessage[]> {
    const { sequence } = await this.get(call, input);
    const transcript = new Transcript();
    for (let from = 1; from <= sequence; from += chunk) {
      const bodies = await this.store.events(refOf(call, input), from, Math.min(sequence, from + chunk - 1));
      if (!bodies) throw sessionNotFound(input.sessionId);
      for (const [index, body] of bodies.entries()) {
        const event = readWholeEvent(body);
        if (!event) throw new OrchaError("storage_error", `event ${from + index} of the session is damaged, so its messages aren't whole`);
        transcript.add(event);
      }
      await breathe();
    }
    return transcript.messages();
  }

  async list(call: Call, input: ListInput): Promise<SessionList> {
    agentOf(this.agents, input.agent);
    const { cursor, pageSize, metadata, ...filter } = input;
    const after = cursor === undefined ? undefined : readCursor(cursor);
    const snapshots = await this.store.list({
      tenant: call.principal.tenant,
      ...filter,
      ...(metadata === undefined ? {} : { metadata: readFilter(metadata) }),
      ...(after === undefined ? {} : { after }),
      limit: pageSize + 1,
    });
    const items: SessionSnapshot[] = [];
    for (const text of snapshots.slice(0, pageSize)) items.push(await this.snapshotOf(call, { agent: input.agent }, text));
    const last = items.at(-1);
    if (snapshots.length <= pageSize || !last) return { items };
    return { items, nextCursor: writeCursor({ updatedAt: Date.parse(last.updatedAt), sessionId: last.sessionId }) };
  }
}

/** Lets other requests in between two pieces of a long read. */
export function breathe(): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, 0));
}

/** What a page says of its place. */
export function pageFields({ throughSequence, total }: StoredPage, { page, pageSize }: PageInput) {
  return { page, pageSize, total, hasMore: total > page * pageSize, throughSequence };
}

/** Reads a stored snapshot; nothing where it is damaged. */
export function wholeSnapshot(text: string): SessionSnapshot | undefined {
  // The session row's own text, written by `JSON.stringify` of a snapshot.
  return parse(text) as SessionSnapshot | undefined;
}

/** Reads a stored snapshot. Throws `storage_error` for a damaged one. */
export function readSnapshot(text: string): SessionSnapshot {
  const snapshot = wholeSnapshot(text);
  if (snapshot) return snapshot;
  throw new OrchaError("storage_error", `the stored snapshot of session ${JSON.stringify(salvageId(text) ?? "?")} is damaged`);
}

type WireItem = SessionHistory["items"][number];

/** Reads a stored item; nothing where it is damaged. Items of a newer server's types pass: the client names them. */
export function readItem(body: string): WireItem | undefined {
  const item = parse(body) as Partial<WireItem> | null | undefined;
  return typeof item?.id === "string" && typeof item.type === "string" ? (item as WireItem) : undefined;
}

/** What a damaged item becomes, so that the page still comes. */
function unreadable(body: string, madeBy: number | undefined, createdAt: string): WireItem {
  const reason = "the stored item is damaged";
  return { id: `unreadable:${madeBy ?? 0}`, type: "unreadable", createdAt: salvageTime(body) ?? createdAt, reason };
}

/** Reads a stored event; nothing where it is damaged. */
export function readWholeEvent(body: string): SessionEvent | undefined {
  const event = parse(body) as Partial<SessionEvent> | null | undefined;
  return typeof event?.type === "string" && isPlainObject(event.data) ? (event as SessionEvent) : undefined;
}

/** Reads a stored event; a damaged one keeps its place under a type that no reader knows. */
function readEvent(body: string, sequence: number, createdAt: string): SessionEvent {
  const event = readWholeEvent(body);
  if (event) return event;
  const data = { reason: "the stored event is damaged" };
  return { sequence, v: 1, type: "unreadable", timestamp: createdAt, data } as unknown as SessionEvent;
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function salvageId(text: string): string | undefined {
  return /^[^"]{0,8}"sessionId":"([\w:.-]{1,128})"/.exec(text)?.[1];
}

function salvageTime(text: string): string | undefined {
  return /"createdAt":"([^"]{1,40})"/.exec(text)?.[1];
}

function readFilter(metadata: unknown): Record<string, string | number | boolean | null> {
  const fault = findMetadataFault(metadata);
  if (fault) throw invalidInput(["metadata", ...fault.path], fault.reason);
  return metadata as Record<string, string | number | boolean | null>;
}

function writeCursor({ updatedAt, sessionId }: ListPosition): string {
  return btoa(JSON.stringify([updatedAt, sessionId])).replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "");
}

function readCursor(cursor: string): ListPosition {
  let parts: unknown;
  try {
    parts = JSON.parse(atob(cursor.replaceAll("-", "+").replaceAll("_", "/")));
  } catch {
    parts = undefined;
  }
  if (Array.isArray(parts) && Number.isSafeInteger(parts[0]) && typeof parts[1] === "string" && parts.length === 2) {
    return { updatedAt: Number(parts[0]), sessionId: parts[1] };
  }
  throw invalidInput(["cursor"], "must be a nextCursor of an earlier answer");
}
