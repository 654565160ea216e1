import type { Agents, ClientActionResult, EventInput, StoredSnapshot } from "@orcha/contract";
import { completeBatch, lookupsOfBatch, writeOf } from "../batch.ts";
import type { OnError } from "../failure.ts";
import { sessionName } from "../store/session-name.ts";
import type { Current, DueQuery, SessionRef, Store } from "../store/store.ts";
import type { Surroundings } from "../surroundings.ts";
import { partialOf, unlogged } from "./draft.ts";
import { overdue, type Evaluating } from "./evaluating.ts";
import { closedActions } from "./interrupting.ts";
import type { LeaseTerms } from "./lease-keeper.ts";
import type { LiveRuns } from "./live-runs.ts";
import type { Reporting } from "./reporting.ts";
import { readRunLog, takeOversOf, type LastRun } from "./run-log.ts";
import type { HostedAgent, Runner } from "./runner.ts";

interface Parts {
  agents: Agents;
  store: Store;
  surroundings: Surroundings;
  live: LiveRuns;
  runner: Runner;
  evaluating: Evaluating;
  reporting: Reporting;
  leases: LeaseTerms;
  onError: OnError;
}

/** How often one run is taken over before it is given up: what kills its server each time would go on for ever. */
const maxTakeOvers = 10;

/** How many sessions one sweep looks at. */
const sweepLimit = 100;

/** Starts with a control character, which no principal's tenant can: imports under way live there. */
const reserved = "\u0001";

/**
 * Moves sessions on that nobody is at work at: crashed runs go on from the log, client actions expire, and
 * evaluations are made anew.
 */
export class Recovery {
  private readonly parts: Parts;
  private readonly busy = new Map<string, Promise<void>>();
  private looks = 0;

  constructor(parts: Parts) {
    this.parts = parts;
  }

  /** As `sweep`, unless an earlier look still waits for the store: one that hangs would lose all its connections to this. */
  async patrol(): Promise<void> {
    if (this.looks === 0) await this.sweep();
  }

  /** Looks for what is due, once. Never rejects. */
  async sweep(): Promise<void> {
    const keys = Object.keys(this.parts.agents);
    await this.look("expired", keys);
    await this.look("abandoned", keys.filter((key) => this.parts.runner.isHosted(key)));
  }

  private async look(what: DueQuery["what"], agents: readonly string[]): Promise<void> {
    try {
      const due = await this.due(what, agents);
      const able = what === "expired" ? undefined : await this.ableOf(due);
      const wanted = due.filter(({ tenant, agent }) => !tenant.startsWith(reserved) && able?.has(agent) !== false);
      await Promise.all(wanted.map((ref) => this.attend(ref)));
    } catch (error) {
      this.parts.onError(error, { operation: "sweep" });
    }
  }

  /** Where the sessions of one agent may have filled the list, each agent has its own: none waits for another's. */
  private async due(what: DueQuery["what"], agents: readonly string[]): Promise<readonly SessionRef[]> {
    if (agents.length === 0) return [];
    const { store, surroundings } = this.parts;
    const query = { what, now: surroundings.now(), limit: sweepLimit };
    this.looks += 1;
    try {
      const due = await store.due({ ...query, agents });
      if (due.length < sweepLimit || agents.length === 1) return due;
      const each = await Promise.all(agents.map((agent) => store.due({ ...query, agents: [agent] })));
      return each.flat();
    } finally {
      this.looks -= 1;
    }
  }

  /** The agents of these sessions that this server can run now. */
  private async ableOf(due: readonly SessionRef[]): Promise<ReadonlySet<string>> {
    const able = new Set<string>();
    for (const agent of new Set(due.map((ref) => ref.agent))) if (await this.parts.runner.ready(agent)) able.add(agent);
    return able;
  }

  /** Moves one session on, if something is due there. Never rejects. */
  attend(ref: SessionRef): Promise<void> {
    const name = sessionName(ref);
    const attending =
      this.busy.get(name) ??
      this.moveOn(ref)
        .catch((error: unknown) => this.parts.onError(error, { operation: "sweep", sessionId: ref.sessionId }))
        .finally(() => this.busy.delete(name));
    this.busy.set(name, attending);
    return attending;
  }

  private async moveOn(ref: SessionRef): Promise<void> {
    const { store, surroundings, live, runner, evaluating } = this.parts;
    if (live.get(ref)) return;
    const current = await store.read(ref, []);
    if (!current) return;
    const now = surroundings.now();
    if (isAbandoned(current, now)) {
      const hosted = await runner.ready(ref.agent);
      if (hosted) await this.takeOver(ref, hosted);
    } else if (expiredCalls(current, now).length > 0) await this.expire(ref);
    else if (overdue(current, now).length > 0) await evaluating.takeOver(ref, runner.implemented(ref.agent));
  }

  /** Goes on with a run whose process is gone: what it had begun to say is kept, and the round is repeated. */
  private async takeOver(ref: SessionRef, hosted: HostedAgent): Promise<void> {
    const { store, surroundings, runner, leases } = this.parts;
    const log = await readRunLog(store, ref);
    const draft = await store.draft(ref);
    const last = log?.last;
    if (!log) return;
    let start: (() => void) | undefined;
    let given: StoredSnapshot | undefined;
    const taken = await store.append(ref, [], (current) => {
      start = undefined;
      given = undefined;
      const now = surroundings.now();
      if (!current.lease || !isAbandoned(current, now) || current.view.snapshot.sequence !== log.sequence) return { result: false };
      const author = { now };
      const isOver = current.view.snapshot.status === "completed";
      if (!last || !last.isHosted || last.end !== undefined || isOver) {
        return { write: { ...writeOf([], current, author), lease: { ...current.lease, until: 0 } }, result: false };
      }
      const said = partialOf(unlogged(draft, last, current.lease));
      if (takeOversOf(last, current.lease.fence) >= maxTakeOvers) {
        given = current.view.snapshot;
        const events = [...closedActions(current.view), ...completeBatch([...said, givenUp(last)], current.view)];
        return { write: { ...writeOf(events, current, author), lease: { ...current.lease, until: 0 } }, result: false };
      }
      const lease = leases.next(current.lease.fence, now);
      const write = writeOf(said, current, author);
      start = () => void runner.drive(ref, last.number, lease, hosted, log, write);
      return { write: { ...write, lease }, result: true };
    });
    if (taken?.result === true) start?.();
    else if (given) await this.parts.reporting.tell(ref, given);
  }

  /**
   * Ends calls whose time is over; the run goes on when none is left, or fails where the definition says so. Where this
   * server can't run the agent, another one goes on.
   */
  private async expire(ref: SessionRef): Promise<void> {
    const { agents, store, surroundings, runner, leases } = this.parts;
    const log = await readRunLog(store, ref);
    if (!log) return;
    const clientActions = agents[ref.agent]?.definition.clientActions ?? {};
    const run = log.last?.isHosted && log.last.end === undefined ? log.last : undefined;
    const hosted = run && (await runner.ready(ref.agent));
    const numbered = log.last ? { run: log.last.number } : {};
    let start: (() => void) | undefined;
    const before = await store.read(ref, []);
    if (!before) return;
    const lookups = lookupsOfBatch([resolved(expiredCalls(before, surroundings.now()).map(({ callId }) => ({ callId })), {})]);
    const expired = await store.append(ref, lookups, (current) => {
      start = undefined;
      const now = surroundings.now();
      const calls = expiredCalls(current, now);
      if (calls.length === 0 || current.view.snapshot.sequence !== log.sequence) return { result: false };
      const events: EventInput[] = [resolved(calls.map(({ callId }) => ({ callId, outcome: "expired" })), numbered)];
      const failing = calls.find(({ name }) => clientActions[name]?.onExpire === "fail");
      if (failing) {
        const error = { code: "execution_failed", message: `${failing.name} expired without an answer`, retryable: false };
        events.push({ type: "run.failed", ...numbered, data: { status: "failed", error } });
      }
      const write = writeOf(completeBatch(events, current.view), current, { now });
      const { pendingClientActions, status } = write.view.snapshot;
      if (!run || failing || pendingClientActions.length > 0 || status !== "active") return { write, result: true };
      const fence = current.lease?.fence ?? 0;
      if (!hosted) return { write: { ...write, lease: leases.left(fence) }, result: true };
      const lease = leases.next(fence, now);
      start = () => void runner.drive(ref, run.number, lease, hosted, log, write);
      return { write: { ...write, lease }, result: true };
    });
    if (start) start();
    else if (expired?.result === true) await this.parts.reporting.tell(ref, before.view.snapshot);
  }
}

/** Tells whether a run was left by its process: its lease ran out without being let go of. */
export function isAbandoned({ lease }: Current, now: number): boolean {
  return lease !== undefined && lease.until > 0 && lease.until <= now;
}

/** The client actions whose time is over. */
export function expiredCalls({ view }: Current, now: number): { callId: string; name: string }[] {
  return view.snapshot.pendingClientActions.filter(({ expiresAt }) => expiresAt !== undefined && Date.parse(expiresAt) <= now);
}

function resolved(results: ClientActionResult[], numbered: { run?: number }): EventInput {
  return { type: "client_action.resolved", ...numbered, data: { status: "completed", results } };
}

function givenUp({ number }: LastRun): EventInput {
  const error = { code: "execution_failed", message: `the run was taken over ${maxTakeOvers} times and never ended`, retryable: false };
  return { type: "run.failed", run: number, data: { status: "failed", error } };
}
