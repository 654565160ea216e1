import * as v from "valibot";
import type { AgentTypes, AnyAgentTypes } from "./agent.ts";
import type { EvaluationMetric, EventError } from "./event.ts";
import { evaluationMetricSchema } from "./event-schema.ts";
import type { PendingClientActionOf } from "./session.ts";
import { usageSchema, type Usage } from "./usage.ts";

interface RunBase {
  sessionId: string;
  /** Number of the run in its session. */
  run: number;
  /** What the run used so far, all rounds together. */
  usage?: Usage;
}

/** A run that ended with an answer: structured where the agent defines an output, else text. */
export interface CompletedRun<Output = unknown> extends RunBase {
  status: "completed";
  output: Output;
}

/** A run that goes on when its client actions have been answered. */
export interface WaitingRun<Pending = unknown> extends RunBase {
  status: "waiting_for_client_action";
  pendingClientActions: Pending[];
}

/** A run that somebody interrupted; `output` is the text that was said until then. */
export interface InterruptedRun extends RunBase {
  status: "paused" | "stopped";
  output?: string;
}

/** A run that failed, and why. */
export interface FailedRun extends RunBase {
  status: "failed";
  error: EventError;
}

/** How a run, or its part up to a pause, ended; narrow by `status`. */
export type RunResult<T extends AgentTypes = AnyAgentTypes> =
  | CompletedRun<T["output"]>
  | WaitingRun<PendingClientActionOf<T>>
  | InterruptedRun
  | FailedRun;

/** The answer in the making: within a round the text only grows, and a new round starts anew. */
export interface StreamingRun {
  status: "streaming";
  sessionId: string;
  run: number;
  /** Counts the model's turns in the run, from 0. */
  round: number;
  output: string;
}

/** A run that waits for an agent it delegated to. */
export interface DelegatingRun {
  status: "waiting_for_subagent";
  sessionId: string;
  run: number;
  callId: string;
  childAgent: string;
  childSessionId: string;
}

/** A run at a glance, as its stream shows it: the last one is the result. */
export type RunFrame<T extends AgentTypes = AnyAgentTypes> = StreamingRun | DelegatingRun | RunResult<T>;

/** How a run was judged; "error" where the evaluation itself failed. */
export interface EvaluationOutcome<Name = string> {
  name: Name;
  status: "passed" | "failed" | "error";
  metrics: EvaluationMetric[];
  durationMs?: number;
  usage?: Usage;
  error?: { code?: string; message: string };
}

const base = {
  sessionId: v.string(),
  run: v.pipe(v.number(), v.integer(), v.minValue(1)),
  usage: v.optional(usageSchema),
};

export const runResultSchema: v.GenericSchema<RunResult> = v.variant("status", [
  v.object({ ...base, status: v.literal("completed"), output: v.unknown() }),
  v.object({
    ...base,
    status: v.literal("waiting_for_client_action"),
    pendingClientActions: v.array(
      v.looseObject({ callId: v.string(), name: v.string(), arguments: v.unknown(), expiresAt: v.optional(v.string()) }),
    ),
  }),
  v.object({ ...base, status: v.picklist(["paused", "stopped"]), output: v.optional(v.string()) }),
  v.object({
    ...base,
    status: v.literal("failed"),
    error: v.looseObject({
      code: v.string(),
      message: v.string(),
      retryable: v.optional(v.boolean()),
      details: v.optional(v.unknown()),
    }),
  }),
]);

export const evaluationOutcomeSchema: v.GenericSchema<EvaluationOutcome> = v.object({
  name: v.string(),
  status: v.picklist(["passed", "failed", "error"]),
  metrics: v.array(evaluationMetricSchema),
  durationMs: v.optional(v.number()),
  usage: v.optional(usageSchema),
  error: v.optional(v.object({ code: v.optional(v.string()), message: v.string() })),
});
