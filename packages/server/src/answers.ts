import {
  canonicalJson,
  cutText,
  findJsonFault,
  formatPath,
  isPlainObject,
  lookupKey,
  maxJsonDepth,
  OrchaError,
  type Agent,
  type Agents,
  type ClientActionResult,
  type Path,
  type RecordedAnswer,
} from "@orcha/contract";
import { writeOf, type NewEvent } from "./batch.ts";
import { agentOf, authorOf, refOf, sessionNotFound, type Call } from "./call.ts";
import { untilDone, type Changes } from "./changes.ts";
import type { Surroundings } from "./surroundings.ts";
import type { Idempotency, Seal } from "./idempotency.ts";
import { keysOf } from "./metadata.ts";
import { readWholeEvent, type SessionInput } from "./reading.ts";
import type { LeaseTerms } from "./runs/lease-keeper.ts";
import { expiredCalls, type Recovery } from "./runs/recovery.ts";
import { readRunLog } from "./runs/run-log.ts";
import type { Runner } from "./runs/runner.ts";
import type { RunRef } from "./runs/starting.ts";
import type { Current, SessionRef, Store, TouchedItem } from "./store/store.ts";

export interface ResumeInput extends SessionInput {
  content?: unknown;
  toolResults?: unknown;
  clientCapabilities?: unknown;
}

interface Parts {
  agents: Agents;
  store: Store;
  changes: Changes;
  idempotency: Idempotency;
  surroundings: Surroundings;
  runner: Runner;
  recovery: Recovery;
  leases: LeaseTerms;
}

/** Where answers went: the event that holds them, and the run that they belong to if a server drives it. */
interface Recorded {
  sequence: number;
  run?: number;
}

/*
 * One client action, from its request to its one outcome:
 *
 *   waiting ── output ──────▶ answered (completed)     the same result again ──▶ the stored answer
 *      ├────── deny ────────▶ denied (failed)          other data ─────────────▶ action_result_conflict
 *      └── session or run ends ──▶ cancelled (failed)
 */

/**
 * Records the answers of people and apps to client actions. With the last one, the run goes on: here, or where there is
 * a server that can run the agent.
 */
export class Answers {
  private readonly parts: Parts;

  constructor(parts: Parts) {
    this.parts = parts;
  }

  /**
   * Records any non-empty subset of what waits. Throws `missing_tool_results`, `invalid_tool_result`,
   * `unknown_call_id`, and `action_result_conflict` where a call ended otherwise.
   */
  async answer(call: Call, input: ResumeInput): Promise<RunRef | RecordedAnswer> {
    const agent = agentOf(this.parts.agents, input.agent);
    const results = readResults(input.toolResults);
    const ref = refOf(call, input);
    const { sequence, run } = await this.parts.idempotency.once<Recorded>(call, "resume", input, async (seal) => {
      await this.endExpired(ref);
      return untilDone(() => this.record(call, ref, agent, results, seal));
    });
    if (run !== undefined) return { ref, run };
    const current = await this.parts.store.read(ref, []);
    if (!current) throw sessionNotFound(input.sessionId);
    const { pendingClientActions } = current.view.snapshot;
    const status = pendingClientActions.length === 0 ? "recorded" : "waiting_for_client_action";
    return { status, sessionId: input.sessionId, sequence, pendingClientActions };
  }

  /** What ran out of time has ended, also where no sweep has seen it yet. */
  private async endExpired(ref: SessionRef): Promise<void> {
    const current = await this.parts.store.read(ref, []);
    if (current && expiredCalls(current, this.parts.surroundings.now()).length > 0) await this.parts.recovery.attend(ref);
  }

  /** Answers nothing where another answer came between: the caller looks again. */
  private async record(
    call: Call,
    ref: SessionRef,
    agent: Agent,
    results: readonly ClientActionResult[],
    seal: Seal<Recorded>,
  ): Promise<Recorded | undefined> {
    const lookups = results.map(({ callId }) => lookupKey("client-action", callId));
    const before = await this.parts.store.read(ref, lookups);
    if (!before) throw sessionNotFound(ref.sessionId);
    const fresh: ClientActionResult[] = [];
    let stored: Recorded = { sequence: 0 };
    for (const [index, result] of results.entries()) {
      const target = targetOf(before, result.callId);
      if (isWaiting(target)) {
        await checkOutput(agent, target, result, ["toolResults", index, "output"]);
        fresh.push(result);
      } else {
        const found = await this.sameAsStored(ref, target, result);
        if (found.sequence > stored.sequence) stored = found;
      }
    }
    if (fresh.length === 0) return stored;
    const { store, surroundings, runner, leases } = this.parts;
    // A session that never had a lease, of an agent that runs elsewhere, has no run to go on.
    const log = runner.isHosted(ref.agent) || before.lease ? await readRunLog(store, ref) : undefined;
    const run = log?.last?.isHosted === true && log.last.end === undefined ? log.last.number : undefined;
    const hosted = run === undefined ? undefined : await runner.ready(ref.agent);
    const numbered = run === undefined ? {} : { run };
    const { subject } = call.principal;
    let start: (() => void) | undefined;
    const decide = (current: Current) => {
      const { snapshot } = current.view;
      start = undefined;
      if (log && log.sequence !== snapshot.sequence) return { result: undefined };
      if (!fresh.every(({ callId }) => isWaiting(targetOf(current, callId)))) return { result: undefined };
      const data = { results: fresh, ...(subject === undefined ? {} : { resolvedBy: subject }) };
      const resumed: NewEvent[] = snapshot.status === "paused" ? [{ type: "session.resumed", data: { status: "active" } }] : [];
      const events: NewEvent[] = [...resumed, { type: "client_action.resolved", ...numbered, data }];
      // Where the agent runs elsewhere there is no run to follow here.
      const result: Recorded = { sequence: snapshot.sequence + events.length, ...(runner.isHosted(ref.agent) ? numbered : {}) };
      const write = writeOf(events, current, authorOf(call, surroundings), seal(result));
      if (!log || run === undefined || write.view.snapshot.pendingClientActions.length > 0) return { write, result };
      const fence = current.lease?.fence ?? 0;
      if (!hosted) return { write: { ...write, lease: leases.left(fence) }, result };
      const lease = leases.next(fence, surroundings.now());
      start = () => void runner.drive(ref, run, lease, hosted, log, write);
      return { write: { ...write, lease }, result };
    };
    const recorded = await this.parts.changes.change<Recorded | undefined>(ref, call, lookups, decide, { evenRunning: true });
    if (recorded) start?.();
    return recorded;
  }

  /** The event that holds the same result. Throws `action_result_conflict` for another one. */
  private async sameAsStored(ref: SessionRef, target: TouchedItem, result: ClientActionResult): Promise<Recorded> {
    const bodies = await this.parts.store.events(ref, target.sequence, target.sequence);
    if (!bodies) throw sessionNotFound(ref.sessionId);
    const event = readWholeEvent(bodies[0] ?? "");
    if (!event) {
      throw new OrchaError("storage_error", `event ${target.sequence} of the session is damaged, so its answer can't be compared`);
    }
    const results = event.type === "client_action.resolved" ? event.data.results : [];
    const stored = results.find(({ callId }) => callId === result.callId);
    if (stored && comparable(stored) === comparable(result)) {
      const isOfServer = event.run !== undefined && this.parts.runner.isHosted(ref.agent);
      return { sequence: target.sequence, ...(isOfServer ? { run: event.run } : {}) };
    }
    const outcome = target.item.type === "client_action" ? target.item.outcome : undefined;
    const isOver = outcome === "expired" || outcome === "cancelled";
    const how = isOver ? `${outcome === "expired" ? "has" : "was"} ${outcome} and takes no answer any more` : `was ${outcome ?? "settled"} with other data`;
    throw new OrchaError("action_result_conflict", `call ${JSON.stringify(result.callId)} ${how}`, { details: { callId: result.callId, outcome } });
  }
}

/** The nearest call of that id that waits, else the newest. Throws `unknown_call_id`. */
function targetOf({ touched }: Current, callId: string): TouchedItem {
  const placed = touched.get(lookupKey("client-action", callId));
  const target = placed?.findLast((candidate) => isWaiting(candidate)) ?? placed?.at(-1);
  if (target) return target;
  // Nothing is known of it, not even that it is short.
  const told = cutText(callId, 512);
  throw new OrchaError("unknown_call_id", `no client action has the call id ${JSON.stringify(told)}`, { details: { callId: told } });
}

function isWaiting({ item }: TouchedItem): boolean {
  return item.type === "client_action" && item.status === "waiting";
}

function comparable({ outcome = "answered", output, isError, reason }: ClientActionResult): string {
  return canonicalJson({ outcome, output, isError: isError === true, reason });
}

/** Checks an answer against the definition, as far as the agent has one of that name. */
async function checkOutput(agent: Agent, target: TouchedItem, result: ClientActionResult, path: Path): Promise<void> {
  if (result.outcome !== "answered" || result.isError === true || target.item.type !== "client_action") return;
  const { clientActions } = agent.definition;
  const { name } = target.item;
  const schema = clientActions && Object.hasOwn(clientActions, name) ? clientActions[name]?.output : undefined;
  const checked = schema && (await schema["~standard"].validate(result.output));
  const issue = checked?.issues?.[0];
  if (issue) throw invalidResult([...path, ...keysOf(issue.path)], issue.message);
}

/** Levels of the event around an output: its own, data, results, and the result's. */
const levelsAround = 4;

const resultKeys = ["callId", "output", "isError", "deny", "reason"];

function readResults(toolResults: unknown): ClientActionResult[] {
  if (!Array.isArray(toolResults) || toolResults.length === 0) {
    throw new OrchaError("missing_tool_results", "toolResults must be an array of at least one result", {
      details: { path: "toolResults" },
    });
  }
  if (toolResults.length > 100) throw invalidResult(["toolResults"], "holds more than 100 results");
  const seen = new Set<string>();
  return toolResults.map((result: unknown, index) => {
    const path = ["toolResults", index];
    if (!isPlainObject(result)) throw invalidResult(path, "must be an object");
    const unknown = Object.keys(result).find((key) => !resultKeys.includes(key));
    if (unknown !== undefined) throw invalidResult([...path, unknown], `is unknown; a result has ${resultKeys.join(", ")}`);
    const { callId } = result;
    if (typeof callId !== "string" || callId === "") throw invalidResult([...path, "callId"], "must be a call's id");
    if (seen.has(callId)) throw invalidResult([...path, "callId"], "repeats an earlier one");
    seen.add(callId);
    return readResult(result, callId, path);
  });
}

function readResult(result: Record<string, unknown>, callId: string, path: Path): ClientActionResult {
  const { output, isError, deny, reason } = result;
  if (isError !== undefined && typeof isError !== "boolean") throw invalidResult([...path, "isError"], "must be a boolean");
  if (deny === undefined) {
    if (output === undefined) throw invalidResult([...path, "output"], "is missing");
    const fault = findJsonFault(output, maxJsonDepth - levelsAround);
    if (fault) throw invalidResult([...path, "output", ...fault.path], fault.reason);
    if (reason !== undefined) throw invalidResult([...path, "reason"], "goes with deny only");
    return { callId, outcome: "answered", output, ...(isError === true ? { isError } : {}) };
  }
  if (deny !== true) throw invalidResult([...path, "deny"], "must be true where it is given");
  if (output !== undefined) throw invalidResult([...path, "output"], "can't go with deny");
  if (reason !== undefined && (typeof reason !== "string" || reason.length > 2000)) {
    throw invalidResult([...path, "reason"], "must be a text of at most 2000 characters");
  }
  return { callId, outcome: "denied", ...(reason === undefined ? {} : { reason }) };
}

function invalidResult(path: Path, reason: string): OrchaError {
  const at = formatPath(path);
  return new OrchaError("invalid_tool_result", `${at} ${reason}`, { details: { path: at } });
}
