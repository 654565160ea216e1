import { faultOf } from "@orcha/agent/loop";
import {
  isPlainObject,
  type Agent,
  type EvaluationDefinition,
  type EvaluationMetric,
  type EvaluationOutcome,
  type Metadata,
  type OpenEvaluation,
  type SessionEvent,
} from "@orcha/contract";
import type { OnError } from "../failure.ts";
import { writeOf, type NewEvent } from "../batch.ts";
import type { Current, SessionRef, Store } from "../store/store.ts";
import { within } from "../store/wait.ts";
import type { Surroundings } from "../surroundings.ts";
import { inTime } from "./action-tool.ts";
import type { AnyImplementation } from "./implementation.ts";
import { outcomeOf } from "./outcome.ts";
import { readTranscript, type RunTranscript } from "./transcript.ts";

type Outcome = NewEvent<"evaluation.completed"> | NewEvent<"evaluation.failed">;

type JudgingEvent = NewEvent<"evaluation.requested"> | Outcome;

interface Parts {
  store: Store;
  surroundings: Surroundings;
  onError: OnError;
}

/** An agent with how it is judged. */
interface Judged {
  agent: Agent;
  implementation: AnyImplementation;
}

/** How long one evaluation may take by default, in milliseconds. */
const defaultTimeoutMs = 60_000;

/** How long after its time an outcome may be recorded, in milliseconds: a store may be slow, and clocks differ. */
const graceMs = 30_000;

/** How often a run is given to an evaluation whose server goes away each time. */
const maxAttempts = 3;

/** How long servers that can't judge a run leave it to one that can, in milliseconds. */
const patienceMs = 600_000;

/*
 *   run completed ── requested, in the same write ──▶ judged ──▶ completed | failed: whichever is recorded first
 *                          ▲                            │
 *                          └── once more, elsewhere ◀── expired: its server is gone ──▶ failed, after the last attempt
 */

/** Judges completed runs, beside the session's further life: no lease is held, and no result waits or changes. */
export class Evaluating {
  private readonly parts: Parts;
  private readonly closing = new AbortController();
  private readonly underWay = new Set<Promise<unknown>>();

  constructor(parts: Parts) {
    this.parts = parts;
  }

  /** What the log says when a run has completed, in the same write. */
  requests({ agent: { definition }, implementation }: Judged): NewEvent<"evaluation.requested">[] {
    return Object.keys(definition.evaluations ?? {}).map((name) => ({ type: "evaluation.requested", data: { name, expiresAt: this.expiry(implementation) } }));
  }

  /** Runs every evaluation, all at once, and records each outcome as it comes. Never rejects. */
  evaluate(ref: SessionRef, judged: Judged, run: number, metadata: Metadata): Promise<EvaluationOutcome[]> {
    return this.judgeAll(ref, judged, Object.keys(judged.agent.definition.evaluations ?? {}), run, metadata);
  }

  /**
   * Begins anew what expired without an outcome, where this server can judge it, and records as failed what was begun too
   * often. Resolves once the log says so.
   */
  async takeOver(ref: SessionRef, judged: Judged | undefined): Promise<void> {
    let begin: (() => void) | undefined;
    const taken = await this.parts.store.append(ref, [], (current) => {
      begin = undefined;
      const now = this.parts.surroundings.now();
      const events = overdue(current, now).flatMap((entry) => this.goingOn(entry, judged?.implementation, now));
      if (events.length === 0) return { result: false };
      begin = () => {
        for (const { type, run, data } of events) {
          if (judged && type === "evaluation.requested" && run !== undefined) {
            void this.judgeAll(ref, judged, [data.name], run, current.view.snapshot.metadata);
          }
        }
      };
      return { write: writeOf(events, current, { now }), result: true };
    });
    if (taken?.result === true) begin?.();
  }

  /** Waits for what is under way, and leaves what takes longer to other servers. */
  async close(limitMs: number): Promise<void> {
    await within(Promise.allSettled(this.underWay), limitMs);
    this.closing.abort();
    await Promise.allSettled(this.underWay);
  }

  private judgeAll(ref: SessionRef, judged: Judged, names: readonly string[], run: number, metadata: Metadata): Promise<EvaluationOutcome[]> {
    // Once for all of them, and not where there are none.
    const reading = names.length > 0 ? readTranscript(this.parts.store, ref, run) : undefined;
    // Each judge says what it couldn't read.
    reading?.catch(() => {});
    const all = names.map(async (name) => {
      const event = await this.judge(ref, judged, name, metadata, reading);
      // Another server judges it, once it has expired here.
      if (this.closing.signal.aborted) return [];
      await this.record(ref, run, event);
      return outcomeOf(event as SessionEvent & Outcome);
    });
    const outcomes = Promise.all(all).then((lists) => lists.flat());
    this.underWay.add(outcomes);
    return outcomes.finally(() => this.underWay.delete(outcomes));
  }

  private async judge(
    ref: SessionRef,
    { agent: { definition }, implementation }: Judged,
    name: string,
    metadata: Metadata,
    reading: Promise<RunTranscript> | undefined,
  ): Promise<Outcome> {
    const { surroundings } = this.parts;
    const start = surroundings.now();
    try {
      const defined = Object.hasOwn(definition.evaluations ?? {}, name) ? definition.evaluations?.[name] : undefined;
      const evaluation = implementation.evaluations?.[name];
      if (!defined || !evaluation || !reading) throw new Error("this server has no such evaluation");
      const { messages, output } = await reading;
      const timeoutMs = implementation.evaluationTimeoutMs ?? defaultTimeoutMs;
      const scores = await inTime(timeoutMs, this.closing.signal, async (signal) =>
        evaluation({ sessionId: ref.sessionId, metadata: { ...metadata }, messages, output, signal }),
      );
      const metrics = readScores(defined, scores);
      const status = metrics.every(({ passed }) => passed) ? "passed" : "failed";
      return { type: "evaluation.completed", data: { name, status, metrics, durationMs: Math.max(0, surroundings.now() - start) } };
    } catch (error) {
      const message = faultOf(error, "the evaluation failed");
      return { type: "evaluation.failed", data: { name, status: "error", error: { code, message }, durationMs: Math.max(0, surroundings.now() - start) } };
    }
  }

  /** Records an outcome, unless another server was faster. */
  private async record(ref: SessionRef, run: number, event: Outcome): Promise<void> {
    const { store, surroundings, onError } = this.parts;
    try {
      await store.append(ref, [], (current) => {
        const isOpen = current.view.judging.some(({ name, run: judged }) => name === event.data.name && judged === run);
        return isOpen ? { write: writeOf([{ ...event, run }], current, { now: surroundings.now() }), result: true } : { result: false };
      });
    } catch (error) {
      onError(error, { operation: `evaluation ${event.data.name}`, sessionId: ref.sessionId });
    }
  }

  private goingOn({ name, run, attempt, expiresAt }: OpenEvaluation, implementation: AnyImplementation | undefined, now: number): JudgingEvent[] {
    const numbered = run === undefined ? {} : { run };
    if (implementation && run !== undefined && attempt < maxAttempts) {
      return [{ type: "evaluation.requested", ...numbered, data: { name, expiresAt: this.expiry(implementation), attempt: attempt + 1 } }];
    }
    if (!implementation && Date.parse(expiresAt) + patienceMs > now) return [];
    const message = implementation ? `it was begun ${attempt} times, and its server went away each time` : "its server is gone, and no other one can judge the run";
    return [{ type: "evaluation.failed", ...numbered, data: { name, status: "error", error: { code, message } } }];
  }

  private expiry({ evaluationTimeoutMs = defaultTimeoutMs }: AnyImplementation): string {
    return new Date(this.parts.surroundings.now() + evaluationTimeoutMs + graceMs).toISOString();
  }
}

const code = "evaluation_failed";

/** The evaluations whose server is gone. */
export function overdue({ view }: Current, now: number): OpenEvaluation[] {
  return view.judging.filter(({ expiresAt }) => Date.parse(expiresAt) <= now);
}

/** Takes exactly the defined metrics, each with a score from 0 to 1 and a reason. */
function readScores({ metrics }: EvaluationDefinition, scores: unknown): EvaluationMetric[] {
  if (!isPlainObject(scores)) throw new Error("the evaluation gave no scores");
  for (const name of Object.keys(scores)) if (!Object.hasOwn(metrics, name)) throw new Error(`${name} is none of its metrics`);
  return Object.entries(metrics).map(([name, { threshold }]) => {
    const given = scores[name];
    if (!isPlainObject(given)) throw new Error(`the metric ${name} is missing`);
    const { score, reasoning, evidence = [] } = given;
    if (typeof score !== "number" || !(score >= 0 && score <= 1)) throw new Error(`${name}.score must be from 0 to 1`);
    if (typeof reasoning !== "string" || reasoning.trim() === "") throw new Error(`${name}.reasoning must be a text`);
    if (!Array.isArray(evidence) || !evidence.every((text) => typeof text === "string")) throw new Error(`${name}.evidence must be texts`);
    return { name, score, threshold, passed: score >= threshold, reasoning, evidence };
  });
}
