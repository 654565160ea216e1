import { OrchaError, type Agents, type EventInput, type SessionSnapshot, type SubagentItem } from "@orcha/contract";
import { completeBatch, lookupsOfBatch, writeOf, type NewEvent } from "../batch.ts";
import { agentOf, authorOf, refOf, sessionNotFound, type Call } from "../call.ts";
import { checkSequence, type Changes } from "../changes.ts";
import type { Idempotency } from "../idempotency.ts";
import type { Reading, SessionInput } from "../reading.ts";
import type { Current, Receipt, SessionRef, Store } from "../store/store.ts";
import { within } from "../store/wait.ts";
import type { Surroundings } from "../surroundings.ts";
import { partialOf, readDraft, unlogged, type DraftText } from "./draft.ts";
import type { LiveRuns } from "./live-runs.ts";
import { backwards } from "./outcome.ts";
import type { Reporting } from "./reporting.ts";
import { readRunLog } from "./run-log.ts";

/** What a settlement did. */
interface Settled {
  children: SessionInput[];
  isWritten: boolean;
}

interface Parts {
  agents: Agents;
  store: Store;
  reading: Reading;
  changes: Changes;
  idempotency: Idempotency;
  surroundings: Surroundings;
  live: LiveRuns;
  reporting: Reporting;
}

/** How long a run of this process may take to end by itself, in milliseconds: a pause lets the action at work finish. */
const patienceMs = { stop: 1000, pause: 15_000 };

/** How often the end of a run that goes on meanwhile is written anew, before it is written without its last words. */
const maxTries = 20;

/*
 *   run of this process ── told ──▶ ends itself, with all that it said
 *        │ not in time
 *        ▼
 *   run of another process, or of none ──▶ its lease is taken, and its end written for it; it finds out at its next write
 */

/** Pauses sessions and stops runs, wherever they run. */
export class Interrupting {
  private readonly parts: Parts;

  constructor(parts: Parts) {
    this.parts = parts;
  }

  /** Interrupts the run and lets the session rest; calls go on waiting. A paused session stays as it is. */
  async pause(call: Call, input: SessionInput): Promise<SessionSnapshot> {
    return this.interrupt("pause", call, input);
  }

  /** Ends the run and cancels what it waits for. A session without a run stays as it is. */
  async stop(call: Call, input: SessionInput): Promise<SessionSnapshot> {
    return this.interrupt("stop", call, input);
  }

  private async interrupt(kind: "pause" | "stop", call: Call, input: SessionInput): Promise<SessionSnapshot> {
    agentOf(this.parts.agents, input.agent);
    const ref = refOf(call, input);
    await this.parts.idempotency.once<{ sessionId: string }>(call, kind, input, async (seal) => {
      await this.checkSequence(call, ref);
      const live = this.parts.live.get(ref);
      if (live) {
        live.interrupt(kind);
        await within(live.ended, patienceMs[kind]);
      }
      // A run that ended itself has moved the session on: what the caller expected was true before.
      const settling = live ? { principal: call.principal } : call;
      const outcome = { sessionId: ref.sessionId };
      const receipt = seal(outcome);
      const { children, isWritten } = await this.settle(kind, settling, ref, receipt);
      if (receipt && !isWritten) await this.parts.store.keepReceipt(ref, receipt);
      for (const child of children) await this.interrupt(kind, { principal: call.principal }, child).catch(noChild);
      return outcome;
    });
    return this.parts.reading.get(call, input);
  }

  private async checkSequence(call: Call, ref: SessionRef): Promise<void> {
    if (call.ifSequence === undefined) return;
    const current = await this.parts.store.read(ref, []);
    if (!current) throw sessionNotFound(ref.sessionId);
    checkSequence(call, current);
  }

  /** Writes the end of a run that didn't end itself. Answers the sessions that it had delegated. */
  private async settle(kind: "pause" | "stop", call: Call, ref: SessionRef, receipt: Receipt | undefined): Promise<Settled> {
    const { store, surroundings, changes } = this.parts;
    for (let tries = 1; ; tries += 1) {
      const before = await store.read(ref, []);
      if (!before) throw sessionNotFound(ref.sessionId);
      const draft = await store.draft(ref);
      // What was being said is kept only where the log doesn't have it: both have to be of one moment.
      const log = draft && readDraft(draft.body) ? await readRunLog(store, ref) : undefined;
      const run = log ? log.last?.number : await this.lastRun(ref, before.view.snapshot.sequence);
      const settled = await changes.change<Settled | "moved">(
        ref,
        call,
        lookupsOfBatch([{ type: "run.stopped", data: {} }]),
        (current) => {
          if (log && log.sequence !== current.view.snapshot.sequence && tries < maxTries) return { result: "moved" };
          const said = unlogged(draft, log?.last, current.lease);
          const events = kind === "stop" ? stopping(current, run, said) : pausing(current, run, said);
          if (events.length === 0) return { result: { children: [], isWritten: false } };
          const write = writeOf(events, current, authorOf(call, surroundings), receipt);
          const { lease } = current;
          const freed = lease ? { lease: { ...lease, until: 0, fence: lease.fence + 1 } } : {};
          const children = delegated(current).map(({ name, childSessionId }) => ({ agent: name, sessionId: childSessionId }));
          return { write: { ...write, ...freed }, result: { children, isWritten: true } };
        },
        { evenRunning: true },
      );
      if (settled === "moved") continue;
      if (settled.isWritten) await this.parts.reporting.tell(ref, before.view.snapshot);
      return settled;
    }
  }

  /** The number of the newest run: its events are the last ones that have one. */
  private async lastRun(ref: SessionRef, sequence: number): Promise<number | undefined> {
    for await (const { run } of backwards(this.parts.store, ref, sequence)) if (run !== undefined) return run;
    return undefined;
  }
}

function stopping(current: Current, run: number | undefined, said: DraftText | undefined): NewEvent[] {
  const { view } = current;
  const { runStatus, pendingClientActions } = view.snapshot;
  const isUnderWay = runStatus === "running" || runStatus === "waiting_for_client_action" || runStatus === "waiting_for_subagent";
  if (!isUnderWay && pendingClientActions.length === 0) return [];
  const numbered = run === undefined ? {} : { run };
  const output = said ? { output: said.text } : {};
  const inputs: EventInput[] = [...partialOf(said), { type: "run.stopped", ...numbered, data: { status: "stopped", ...output } }];
  return [...closedActions(view), ...closedDelegations(current, "stopped", run), ...completeBatch(inputs, view)];
}

function pausing(current: Current, run: number | undefined, said: DraftText | undefined): NewEvent[] {
  const { view, lease } = current;
  const { status, runStatus } = view.snapshot;
  if (status === "paused") return [];
  const numbered = run === undefined ? {} : { run };
  const isAtWork = (lease !== undefined && lease.until > 0) || runStatus === "running" || runStatus === "waiting_for_subagent";
  const output = said ? { output: said.text } : {};
  const inputs: EventInput[] = isAtWork
    ? [...partialOf(said), { type: "run.paused", ...numbered, data: { status: "paused", ...output } }]
    : [];
  const closed = isAtWork ? [...closedActions(view), ...closedDelegations(current, "paused", run)] : [];
  return [...closed, ...completeBatch(inputs, view), { type: "session.paused", data: { status: "paused" } }];
}

/** Actions whose process didn't say how they ended: a late result still completes them. */
export function closedActions(view: Current["view"]): NewEvent[] {
  return view.open.flatMap(({ type, callId, name }): NewEvent[] =>
    type === "action"
      ? [{ type: "action.failed", data: { callId, name, error: { code: "aborted", message: "the run was interrupted" } } }]
      : [],
  );
}

/** Says of each child that is about to be interrupted what its run's own process would say. */
function closedDelegations(current: Current, status: "stopped" | "paused", run: number | undefined): NewEvent[] {
  const numbered = run === undefined ? {} : { run };
  return delegated(current).map(({ callId, name, childSessionId }) => ({
    type: "subagent.paused",
    ...numbered,
    data: { callId, agent: name, sessionId: childSessionId, status },
  }));
}

function delegated({ view, touched }: Current): SubagentItem[] {
  const open = new Set(view.open.filter(({ type }) => type === "subagent").map(({ position }) => position));
  const children = new Map<string, SubagentItem>();
  for (const placed of touched.values()) {
    for (const { position, item } of placed) {
      if (item.type === "subagent" && open.has(position) && item.status === "running") children.set(item.childSessionId, item);
    }
  }
  return [...children.values()];
}

/** A child that is gone, or was never opened, needs no interruption. */
function noChild(error: unknown): void {
  const isGone = error instanceof OrchaError && (error.code === "session_not_found" || error.code === "session_completed");
  if (!isGone) throw error;
}
