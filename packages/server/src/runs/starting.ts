import { OrchaError, type EventInput, type Lineage, type MessageContent } from "@orcha/contract";
import { completeBatch, createdEvent, writeOf, type NewEvent } from "../batch.ts";
import { authorOf, refOf, sessionNotFound, type Call } from "../call.ts";
import { untilDone, type Changes } from "../changes.ts";
import type { Idempotency } from "../idempotency.ts";
import { readMetadata, readVariables } from "../metadata.ts";
import type { SessionInput } from "../reading.ts";
import type { Current, SessionRef, Store } from "../store/store.ts";
import type { Surroundings } from "../surroundings.ts";
import { readCapabilities, readContent } from "./content.ts";
import { fillIn } from "./instructions.ts";
import type { LeaseTerms } from "./lease-keeper.ts";
import { emptyRunLog, readRunLog } from "./run-log.ts";
import type { Runner } from "./runner.ts";

export interface RunInput {
  agent: string;
  sessionId?: string;
  content?: unknown;
  name?: string;
  metadata?: unknown;
  variables?: unknown;
  clientCapabilities?: unknown;
}

export interface TextInput extends SessionInput {
  content?: unknown;
  clientCapabilities?: unknown;
}

/** A run of a session. */
export interface RunRef {
  ref: SessionRef;
  run: number;
}

interface Parts {
  store: Store;
  changes: Changes;
  idempotency: Idempotency;
  surroundings: Surroundings;
  runner: Runner;
  leases: LeaseTerms;
  /** Told of a session whose run nobody drives any more. */
  onAbandoned: (ref: SessionRef) => void;
}

/** Starts runs: of a new session, or the next one of a session that is there. */
export class Starting {
  private readonly parts: Parts;

  constructor(parts: Parts) {
    this.parts = parts;
  }

  /** Opens a session and runs its agent. The write that opens it takes the lease too, so that no crash comes between. */
  async run(call: Call, input: RunInput, lineage?: Lineage): Promise<RunRef> {
    const { store, surroundings, idempotency, runner } = this.parts;
    const hosted = await runner.hosted(input.agent);
    const content = readContent(input.content);
    const metadata = await readMetadata(hosted.agent, input.metadata);
    const variables = readVariables(input.variables);
    fillIn(hosted.implementation.instructions, variables);
    const clientCapabilities = readCapabilities(hosted.agent, input.clientCapabilities);
    const sessionId = input.sessionId ?? surroundings.sessionId();
    const keyed = { ...input, sessionId: input.sessionId ?? "" };
    const opened = await idempotency.once<{ sessionId: string; run: number }>(call, "run", keyed, async (seal) => {
      const ref: SessionRef = { tenant: call.principal.tenant, agent: input.agent, sessionId };
      const created = createdEvent({ sessionId, agent: input.agent, name: input.name, metadata, variables, lineage });
      const lease = this.parts.leases.next(0, surroundings.now());
      const started = runner.started(1, input.agent, hosted, clientCapabilities, lease);
      const outcome = { sessionId, run: 1 };
      const write = writeOf([created, started, said(content, 1)], undefined, authorOf(call, surroundings), seal(outcome));
      await store.create(ref, { ...write, lease });
      runner.drive(ref, 1, lease, hosted, emptyRunLog(), write);
      return outcome;
    });
    return { ref: { tenant: call.principal.tenant, agent: input.agent, sessionId: opened.sessionId }, run: opened.run };
  }

  /**
   * Says something in a session and starts its next run. Throws `client_action_required` while calls wait,
   * `session_busy` while a run holds the session.
   */
  async goOn(call: Call, input: TextInput): Promise<RunRef> {
    const { store, surroundings, idempotency, runner } = this.parts;
    const hosted = await runner.hosted(input.agent);
    const content = readContent(input.content ?? "Continue.");
    const clientCapabilities = readCapabilities(hosted.agent, input.clientCapabilities);
    const ref = refOf(call, input);
    const { run } = await idempotency.once<{ run: number }>(call, "resume", input, async (seal) => {
      let start: (() => void) | undefined;
      const outcome = await untilDone(async () => {
        const log = await readRunLog(store, ref);
        if (!log) throw sessionNotFound(ref.sessionId);
        fillIn(hosted.implementation.instructions, log.variables);
        const number = log.runs + 1;
        return this.parts.changes.change<{ run: number } | undefined>(ref, call, [], (current) => {
          start = undefined;
          const { snapshot } = current.view;
          if (snapshot.sequence !== log.sequence) return { result: undefined };
          this.check(ref, current);
          const resumed: NewEvent[] = snapshot.status === "paused" ? [{ type: "session.resumed", data: { status: "active" } }] : [];
          const lease = this.parts.leases.next(current.lease?.fence ?? 0, surroundings.now());
          const inputs = [runner.started(number, input.agent, hosted, clientCapabilities, lease), said(content, number)];
          const result = { run: number };
          const batch = [...resumed, ...completeBatch(inputs, current.view)];
          const write = writeOf(batch, current, authorOf(call, surroundings), seal(result));
          start = () => void runner.drive(ref, number, lease, hosted, log, write);
          return { write: { ...write, lease }, result };
        });
      });
      start?.();
      return outcome;
    });
    return { ref, run };
  }

  private check(ref: SessionRef, { view, lease }: Current): void {
    const { pendingClientActions } = view.snapshot;
    if (pendingClientActions.length > 0) {
      const names = pendingClientActions.map(({ name }) => name).join(", ");
      throw new OrchaError("client_action_required", `the session waits for ${names}: answer with toolResults first`, {
        details: { pendingClientActions },
      });
    }
    if (lease === undefined || lease.until === 0) return;
    this.parts.onAbandoned(ref);
    throw new OrchaError("session_busy", "the session's run is about to be taken over", { details: { retryAfterMs: 1000 } });
  }
}

function said(content: MessageContent[], run: number): EventInput {
  return { type: "message.created", run, data: { role: "user", content } };
}
