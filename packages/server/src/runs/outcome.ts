import type { EvaluationOutcome, PendingClientAction, RunResult, SessionEvent, Usage } from "@orcha/contract";
import { readWholeEvent } from "../reading.ts";
import type { Current, SessionRef, Store } from "../store/store.ts";

/** How far a run is, by its log. */
export type RunState =
  | { at: "end"; result: RunResult; evaluations: readonly EvaluationOutcome[]; isJudged: boolean }
  /** A server drives it, or will take it over. */
  | { at: "work"; current: Current }
  /** The log has no such run. */
  | { at: "nowhere" };

/** How many events are read at once, from the end. */
const piece = 100;

/** Finds out how far a run is: its last word is near the end of the log. Nothing where the session is unknown. */
export async function readRunState(store: Store, ref: SessionRef, run: number): Promise<RunState | undefined> {
  const current = await store.read(ref, []);
  if (!current) return undefined;
  const { sequence, pendingClientActions, status, runStatus } = current.view.snapshot;
  // A session may end without a word of its run: what waited was cancelled with it.
  const isOver = status === "completed" || runStatus === "stopped" || runStatus === "failed";
  // What waits in a session that rests may expire there, and the next run begins without an end of this one.
  let isPast = false;
  const judging: JudgingEvent[] = [];
  for await (const event of backwards(store, ref, sequence)) {
    if (event.run !== run) {
      const { run: other = run } = event;
      // Runs come one after the other: before an earlier one's start nothing is of this one.
      if (event.type === "run.started" && other < run) break;
      isPast ||= other > run;
      continue;
    }
    if (event.type === "evaluation.requested" || event.type === "evaluation.completed" || event.type === "evaluation.failed") {
      judging.push(event);
      continue;
    }
    const base = { sessionId: ref.sessionId, run };
    const otherwise = isPast || status === "paused" ? "paused" : isOver ? "stopped" : undefined;
    const result = resultOf(event, base, isPast ? [] : pendingClientActions) ?? (otherwise && { ...base, status: otherwise });
    if (!result) return { at: "work", current };
    const evaluations = judging.flatMap(outcomeOf);
    const judged = new Set(evaluations.map(({ name }) => name));
    return { at: "end", result, evaluations, isJudged: judging.every(({ data }) => judged.has(data.name)) };
  }
  return { at: "nowhere" };
}

/** What a run's last event says of it; nothing where it is at work. */
function resultOf(event: SessionEvent, base: { sessionId: string; run: number }, pending: readonly PendingClientAction[]): RunResult | undefined {
  switch (event.type) {
    case "run.completed":
      return { ...base, ...usageOf(event.data), status: "completed", output: event.data.output };
    case "run.failed":
      return { ...base, ...usageOf(event.data), status: "failed", error: event.data.error };
    case "run.stopped":
      return { ...base, ...usageOf(event.data), status: "stopped", ...outputOf(event.data) };
    case "run.paused":
      if (event.data.status === "waiting_for_client_action") return waiting({ ...base, ...usageOf(event.data) }, pending);
      return { ...base, ...usageOf(event.data), status: "paused", ...outputOf(event.data) };
    case "client_action.resolved":
      return waiting(base, pending);
    default:
      return undefined;
  }
}

type Waiting = Extract<RunResult, { status: "waiting_for_client_action" }>;

/** A run whose last client action is answered is at work again. */
function waiting(base: { sessionId: string; run: number }, pending: readonly PendingClientAction[]): RunResult | undefined {
  if (pending.length === 0) return undefined;
  return { ...base, status: "waiting_for_client_action", pendingClientActions: [...pending] as Waiting["pendingClientActions"] };
}

function usageOf({ usage }: { usage?: Usage }): { usage?: Usage } {
  return usage ? { usage } : {};
}

function outputOf({ output }: { output?: unknown }): { output?: string } {
  return typeof output === "string" ? { output } : {};
}

type JudgingEvent = Extract<SessionEvent, { type: `evaluation.${string}` }>;

/** How an evaluation ended, as callers are told. */
export function outcomeOf(event: JudgingEvent): EvaluationOutcome[] {
  if (event.type === "evaluation.requested") return [];
  const { name, durationMs } = event.data;
  const time = durationMs === undefined ? {} : { durationMs };
  if (event.type === "evaluation.failed") return [{ name, status: "error", metrics: [], ...time, error: event.data.error }];
  return [{ name, status: event.data.status, metrics: event.data.metrics, ...time, ...usageOf(event.data) }];
}

/** Reads a log from its end: what is asked for is most often near. */
export async function* backwards(store: Store, ref: SessionRef, last: number): AsyncGenerator<SessionEvent> {
  for (let to = last; to >= 1; to -= piece) {
    const bodies = await store.events(ref, Math.max(1, to - piece + 1), to);
    for (const body of (bodies ?? []).toReversed()) {
      const event = readWholeEvent(body);
      if (event) yield event;
    }
  }
}
