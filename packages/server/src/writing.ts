import {
  eventsFromMessages,
  HistoryError,
  invalidInput,
  lookupKey,
  referredCallIds,
  unfinishedAction,
  isOpen,
  validateContinuation,
  validateHistory,
  type AgentMessage,
  type Agents,
  type AppendReceipt,
  type EventDataByType,
  type EventInput,
  type Finding,
  type LoggedCall,
  type RestoredSession,
  type SessionSnapshot,
  type StoredSnapshot,
} from "@orcha/contract";
import { cancellations, completeBatch, createdEvent, lookupsOfBatch, writeOf, type Author, type NewEvent } from "./batch.ts";
import { agentOf, authorOf, refOf, sessionNotFound, type Call } from "./call.ts";
import { historyInvalid, untilDone, type Changes } from "./changes.ts";
import type { Surroundings } from "./surroundings.ts";
import type { Idempotency } from "./idempotency.ts";
import { checkCount, checkText, readEvents } from "./intake.ts";
import { readMetadata, readVariables } from "./metadata.ts";
import type { Reading, SessionInput } from "./reading.ts";
import type { Reporting } from "./runs/reporting.ts";
import type { Current, SessionRef, Store, TouchedItem } from "./store/store.ts";

export interface CreateInput {
  agent: string;
  sessionId?: string;
  name?: string;
  metadata?: unknown;
  variables?: unknown;
}

export interface RestoreInput extends Omit<CreateInput, "variables"> {
  messages: unknown;
}

export interface AppendInput extends SessionInput {
  messages?: unknown;
  events?: readonly unknown[];
}

export interface UpdateInput extends SessionInput {
  name?: string | null;
  metadata?: unknown;
  unset?: readonly string[];
}

export interface CompleteInput extends SessionInput {
  status: "completed" | "failed";
  summary?: string;
}

interface Parts {
  agents: Agents;
  store: Store;
  reading: Reading;
  changes: Changes;
  idempotency: Idempotency;
  surroundings: Surroundings;
  reporting: Reporting;
}

/** What a batch becomes once the session that it goes to is known. */
type Plan = (current: Current) => { events: EventInput[]; findings: Finding[] };

/** Everything that makes, moves and ends sessions, but for the answers to client actions. */
export class Writing {
  private readonly parts: Parts;

  constructor(parts: Parts) {
    this.parts = parts;
  }

  async create(call: Call, input: CreateInput): Promise<SessionSnapshot> {
    const { sessionId } = await this.open(call, "create", input, [], []);
    return this.parts.reading.get(call, { agent: input.agent, sessionId });
  }

  async restore(call: Call, input: RestoreInput): Promise<RestoredSession> {
    const { messages, findings } = validated(() => validateHistory(input.messages));
    checkTexts(input.messages);
    const events = completeBatch(eventsFromMessages(messages, new Map()), undefined, true);
    const restored = await this.open(call, "restore", input, events, findings);
    const session = await this.parts.reading.get(call, { agent: input.agent, sessionId: restored.sessionId });
    return { session, findings: restored.findings };
  }

  async append(call: Call, input: AppendInput): Promise<AppendReceipt> {
    agentOf(this.parts.agents, input.agent);
    const { lookups, plan } = planOf(input);
    return this.parts.idempotency.once(call, "append", input, (seal) =>
      this.parts.changes.change(refOf(call, input), call, lookups, (current) => {
        const { events, findings } = plan(current);
        const first = current.view.snapshot.sequence + 1;
        const batch = completeBatch(events, current.view);
        const result: AppendReceipt = {
          sessionId: input.sessionId,
          firstSequence: first,
          lastSequence: first + batch.length - 1,
          findings,
        };
        return { write: writeOf(batch, current, this.author(call), seal(result)), result };
      }),
    );
  }

  async update(call: Call, input: UpdateInput): Promise<SessionSnapshot> {
    const agent = agentOf(this.parts.agents, input.agent);
    const { name, metadata, unset } = input;
    if (name === undefined && metadata === undefined && unset === undefined) {
      throw invalidInput([], "an update needs name, metadata or unset");
    }
    if (metadata !== undefined) await readMetadata({ definition: {} }, metadata);
    const data: EventDataByType["session.updated"] = {
      ...(name === undefined ? {} : { name }),
      ...(metadata === undefined ? {} : { metadata: metadata as EventDataByType["session.updated"]["metadata"] & object }),
      ...(unset === undefined ? {} : { unset }),
    };
    await this.parts.idempotency.once(call, "update", input, (seal) =>
      untilDone(async () => {
        // A schema may be asynchronous, a transaction may not: check first, then write only on what was checked.
        const checked = await this.parts.store.read(refOf(call, input), []);
        if (!checked) throw sessionNotFound(input.sessionId);
        const preview = writeOf([{ type: "session.updated", data }], checked, this.author(call));
        if (metadata !== undefined || unset !== undefined) await readMetadata(agent, preview.view.snapshot.metadata);
        return this.parts.changes.change(
          refOf(call, input),
          call,
          [],
          (current) => {
            if (current.view.snapshot.sequence !== checked.view.snapshot.sequence) return { result: undefined };
            const result = { sessionId: input.sessionId };
            return { write: writeOf([{ type: "session.updated", data }], current, this.author(call), seal(result)), result };
          },
          { evenCompleted: true, evenRunning: true },
        );
      }),
    );
    return this.parts.reading.get(call, input);
  }

  async complete(call: Call, input: CompleteInput): Promise<SessionSnapshot> {
    agentOf(this.parts.agents, input.agent);
    const { status, summary } = input;
    const ref = refOf(call, input);
    let completed: StoredSnapshot | undefined;
    await this.parts.idempotency.once(call, "complete", input, (seal) =>
      this.parts.changes.change(ref, call, [], (current) => {
        completed = current.view.snapshot;
        const events: NewEvent[] = [
          ...cancellations(current.view, "the session was completed"),
          { type: "session.completed", data: { status, ...(summary === undefined ? {} : { summary }) } },
        ];
        const result = { sessionId: input.sessionId };
        return { write: writeOf(events, current, this.author(call), seal(result)), result };
      }),
    );
    if (completed) await this.parts.reporting.tell(ref, completed);
    return this.parts.reading.get(call, input);
  }

  async delete(call: Call, input: SessionInput): Promise<void> {
    agentOf(this.parts.agents, input.agent);
    const ref = refOf(call, input);
    const found = await this.parts.store.read(ref, []);
    await this.parts.changes.remove(ref, call);
    if (found) await this.parts.reporting.tell(ref, found.view.snapshot);
  }

  private async open(
    call: Call,
    operation: "create" | "restore",
    input: CreateInput,
    events: readonly EventInput[],
    findings: Finding[],
  ): Promise<{ sessionId: string; findings: Finding[] }> {
    const agent = agentOf(this.parts.agents, input.agent);
    const metadata = await readMetadata(agent, input.metadata);
    const variables = readVariables(input.variables);
    const sessionId = input.sessionId ?? this.parts.surroundings.sessionId();
    const keyed = { agent: input.agent, sessionId: input.sessionId ?? "" };
    return this.parts.idempotency.once(call, operation, { ...input, ...keyed }, async (seal) => {
      const ref: SessionRef = { tenant: call.principal.tenant, agent: input.agent, sessionId };
      const created = createdEvent({ sessionId, agent: input.agent, name: input.name, metadata, variables });
      const outcome = { sessionId, findings };
      await this.parts.store.create(ref, writeOf([created, ...events], undefined, this.author(call), seal(outcome)));
      return outcome;
    });
  }

  private author(call: Call): Author {
    return authorOf(call, this.parts.surroundings);
  }
}

function planOf({ messages, events }: AppendInput): { lookups: string[]; plan: Plan } {
  if ((messages === undefined) === (events === undefined)) throw invalidInput([], "an append needs either messages or events");
  if (events !== undefined) {
    const inputs = readEvents(events);
    return { lookups: lookupsOfBatch(inputs), plan: () => ({ events: inputs, findings: [] }) };
  }
  // What needs no session to be seen is refused before the session is looked for.
  if (!Array.isArray(messages)) validated(() => validateContinuation(messages, new Map()));
  else checkCount(messages.length, "messages");
  const ids = referredCallIds(messages);
  return {
    lookups: ids.flatMap((id) => [lookupKey("action", id), lookupKey("client-action", id)]),
    plan: (current) => {
      const known = loggedCalls(ids, current);
      const checked = validateContinuation(messages, known);
      checkTexts(messages);
      return { events: eventsFromMessages(checked.messages, known), findings: checked.findings };
    },
  };
}

/** Looks at the messages as they came, so that indexes are the caller's. */
function checkTexts(messages: unknown): void {
  if (!Array.isArray(messages)) return;
  for (const [index, message] of (messages as Partial<AgentMessage>[]).entries()) {
    if (typeof message.content === "string") checkText(message.content, ["messages", index, "content"]);
  }
}

/** What the log knows of calls that messages refer to. */
function loggedCalls(ids: readonly string[], { touched }: Current): Map<string, LoggedCall[]> {
  const calls = new Map<string, LoggedCall[]>();
  for (const id of ids) {
    const placed = [...(touched.get(lookupKey("action", id)) ?? []), ...(touched.get(lookupKey("client-action", id)) ?? [])];
    if (placed.length === 0) continue;
    placed.sort((left, right) => left.position - right.position);
    calls.set(id, placed.flatMap(loggedCall));
  }
  return calls;
}

function loggedCall(placed: TouchedItem): LoggedCall[] {
  const { item } = placed;
  if (item.type === "client_action") {
    return [{ kind: "client_action", name: item.name, state: isOpen(item) ? "waiting" : "answered" }];
  }
  if (item.type !== "action") return [];
  const state = isOpen(item) ? "waiting" : unfinishedAction([placed]) ? "missing" : "answered";
  return [{ kind: "action", name: item.name, state }];
}

function validated<T>(validate: () => T): T {
  try {
    return validate();
  } catch (error) {
    if (error instanceof HistoryError) throw historyInvalid(error);
    throw error;
  }
}
