import type { Agents, ClientActionResult, EventInput } from "@orcha/contract";
import { completeBatch, lookupsOfBatch, writeOf } from "../batch.ts";
import type { OnError } from "../failure.ts";
import { sessionName } from "../store/session-name.ts";
import type { Current, SessionRef, Store } from "../store/store.ts";
import type { Surroundings } from "../surroundings.ts";
import { partialOf, unlogged } from "./draft.ts";
import { overdue, type Evaluating } from "./evaluating.ts";
import { closedActions } from "./interrupting.ts";
import type { LeaseTerms } from "./lease-keeper.ts";
import type { LiveRuns } from "./live-runs.ts";
import { readRunLog, takeOversOf, type LastRun } from "./run-log.ts";
import type { HostedAgent, Runner } from "./runner.ts";

interface Parts {
  agents: Agents;
  store: Store;
  surroundings: Surroundings;
  live: LiveRuns;
  runner: Runner;
  evaluating: Evaluating;
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

  constructor(parts: Parts) {
    this.parts = parts;
  }

  /** Looks for what is due, once. Never rejects. */
  async sweep(): Promise<void> {
    const { agents, store, surroundings, runner } = this.parts;
    const keys = Object.keys(agents);
    // Apart, so that the crashed runs of agents which run elsewhere never fill the list.
    for (const some of [keys.filter((key) => runner.isHosted(key)), keys.filter((key) => !runner.isHosted(key))]) {
      if (some.length === 0) continue;
      try {
        const due = await store.due({ agents: some, now: surroundings.now(), limit: sweepLimit });
        await Promise.all(due.filter(({ tenant }) => !tenant.startsWith(reserved)).map((ref) => this.attend(ref)));
      } catch (error) {
        this.parts.onError(error, { operation: "sweep" });
      }
    }
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
    const hosted = runner.isHosted(ref.agent) ? await runner.hosted(ref.agent) : undefined;
    if (isAbandoned(current, now)) {
      if (hosted) await this.takeOver(ref, hosted);
    } else if (expiredCalls(current, now).length > 0) await this.expire(ref, hosted);
    else if (overdue(current, now).length > 0) await evaluating.takeOver(ref, hosted);
  }

  /** Goes on with a run whose process is gone: what it had begun to say is kept, and the round is repeated. */
  private async takeOver(ref: SessionRef, hosted: HostedAgent): Promise<void> {
    const { store, surroundings, runner, leases } = this.parts;
    const log = await readRunLog(store, ref);
    const draft = await store.draft(ref);
    const last = log?.last;
    if (!log) return;
    let start: (() => void) | undefined;
    const taken = await store.append(ref, [], (current) => {
      start = undefined;
      const now = surroundings.now();
      if (!current.lease || !isAbandoned(current, now) || current.view.snapshot.sequence !== log.sequence) return { result: false };
      const author = { now };
      const isOver = current.view.snapshot.status === "completed";
      if (!last || !last.isHosted || last.end !== undefined || isOver) {
        return { write: { ...writeOf([], current, author), lease: { ...current.lease, until: 0 } }, result: false };
      }
      const said = partialOf(unlogged(draft, last, current.lease));
      if (takeOversOf(last, current.lease.fence) >= maxTakeOvers) {
        const events = [...closedActions(current.view), ...completeBatch([...said, givenUp(last)], current.view)];
        return { write: { ...writeOf(events, current, author), lease: { ...current.lease, until: 0 } }, result: false };
      }
      const lease = leases.next(current.lease.fence, now);
      const write = writeOf(said, current, author);
      start = () => void runner.drive(ref, last.number, lease, hosted, log, write);
      return { write: { ...write, lease }, result: true };
    });
    if (taken?.result === true) start?.();
  }

  /** Ends calls whose time is over; the run goes on when none is left, or fails where the definition says so. */
  async expire(ref: SessionRef, hosted: HostedAgent | undefined): Promise<void> {
    const { agents, store, surroundings, runner, leases } = this.parts;
    const log = await readRunLog(store, ref);
    if (!log) return;
    const clientActions = agents[ref.agent]?.definition.clientActions ?? {};
    const run = hosted && log.last?.isHosted && log.last.end === undefined ? log.last : undefined;
    const numbered = log.last ? { run: log.last.number } : {};
    let start: (() => void) | undefined;
    const before = await store.read(ref, []);
    if (!before) return;
    const lookups = lookupsOfBatch([resolved(expiredCalls(before, surroundings.now()).map(({ callId }) => ({ callId })), {})]);
    await store.append(ref, lookups, (current) => {
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
      if (!run || !hosted || failing || pendingClientActions.length > 0 || status !== "active") return { write, result: true };
      const lease = leases.next(current.lease?.fence ?? 0, now);
      start = () => void runner.drive(ref, run.number, lease, hosted, log, write);
      return { write: { ...write, lease }, result: true };
    });
    start?.();
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
