import { isPlainObject, type Agent, type EvaluationDefinition, type EvaluationMetric, type EvaluationOutcome, type Metadata, type SessionEvent } from "@orcha/contract";
import type { OnError } from "../failure.ts";
import { writeOf, type NewEvent } from "../batch.ts";
import type { SessionRef, Store } from "../store/store.ts";
import type { Surroundings } from "../surroundings.ts";
import { inTime } from "./action-tool.ts";
import type { AnyImplementation, Evaluation } from "./implementation.ts";
import { outcomeOf } from "./outcome.ts";
import { readTranscript, type RunTranscript } from "./transcript.ts";

type Outcome = NewEvent<"evaluation.completed"> | NewEvent<"evaluation.failed">;

/** Judges completed runs, beside the session's further life: no lease is held, and no result waits or changes. */
export class Evaluating {
  private readonly store: Store;
  private readonly onError: OnError;
  private readonly closing = new AbortController();
  private readonly underWay = new Set<Promise<unknown>>();

  constructor(store: Store, onError: OnError) {
    this.store = store;
    this.onError = onError;
  }

  /** What the log says when a run has completed, in the same write. */
  requests({ definition }: Agent): NewEvent<"evaluation.requested">[] {
    return Object.keys(definition.evaluations ?? {}).map((name) => ({ type: "evaluation.requested", data: { name } }));
  }

  /** Runs every evaluation, all at once, and records each outcome as it comes. Never rejects. */
  evaluate(
    ref: SessionRef,
    { definition }: Agent,
    { evaluations = {}, evaluationTimeoutMs = 60_000 }: AnyImplementation,
    run: number,
    metadata: Metadata,
    surroundings: Surroundings,
  ): Promise<EvaluationOutcome[]> {
    const named = Object.entries(definition.evaluations ?? {});
    // Once for all of them, and not where there are none.
    const reading = named.length > 0 ? readTranscript(this.store, ref, run) : undefined;
    // Each judge says what it couldn't read.
    reading?.catch(() => {});
    const all = named.map(async ([name, defined]) => {
      const event = await this.judge(ref, name, defined, evaluations[name], evaluationTimeoutMs, metadata, reading, surroundings);
      await this.record(ref, run, event, surroundings);
      return outcomeOf(event as SessionEvent & Outcome);
    });
    const outcomes = Promise.all(all).then((lists) => lists.flat());
    this.underWay.add(outcomes);
    return outcomes.finally(() => this.underWay.delete(outcomes));
  }

  /** Ends what is under way, and waits until it is recorded. */
  async close(): Promise<void> {
    this.closing.abort();
    await Promise.allSettled(this.underWay);
  }

  private async judge(
    ref: SessionRef,
    name: string,
    defined: EvaluationDefinition,
    evaluation: Evaluation<unknown> | undefined,
    timeoutMs: number,
    metadata: Metadata,
    reading: Promise<RunTranscript> | undefined,
    surroundings: Surroundings,
  ): Promise<Outcome> {
    const start = surroundings.now();
    try {
      if (!evaluation || !reading) throw new Error("this server has no such evaluation");
      const { messages, output } = await reading;
      const scores = await inTime(timeoutMs, this.closing.signal, async (signal) =>
        evaluation({ sessionId: ref.sessionId, metadata, messages, output, signal }),
      );
      const metrics = readScores(defined, scores);
      const status = metrics.every(({ passed }) => passed) ? "passed" : "failed";
      return { type: "evaluation.completed", data: { name, status, metrics, durationMs: surroundings.now() - start } };
    } catch (error) {
      const message = error instanceof Error ? error.message : String(error);
      const data = { name, status: "error", error: { code: "evaluation_failed", message }, durationMs: surroundings.now() - start };
      return { type: "evaluation.failed", data };
    }
  }

  private async record(ref: SessionRef, run: number, event: Outcome, surroundings: Surroundings): Promise<void> {
    try {
      await this.store.append(ref, [], (current) => ({
        write: writeOf([{ ...event, run }], current, { now: surroundings.now() }),
        result: true,
      }));
    } catch (error) {
      this.onError(error, { operation: `evaluation ${event.data.name}`, sessionId: ref.sessionId });
    }
  }
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
