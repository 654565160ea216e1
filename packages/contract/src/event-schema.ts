import * as v from "valibot";
import { assistantContentSchema, callIdSchema, messageContentSchema, toolResultContentSchema } from "./content.ts";
import type { EvaluationMetric, EventType } from "./event.ts";
import { usageSchema } from "./usage.ts";

const shortText = v.pipe(v.string(), v.minLength(1), v.maxLength(200));
const longText = v.string();
const anyJson = v.optional(v.unknown());
const durationMs = v.optional(v.pipe(v.number(), v.minValue(0)));
const usage = v.optional(usageSchema);
const call = { callId: callIdSchema, name: shortText };
const subagentCall = { callId: callIdSchema, agent: shortText, sessionId: shortText };
const errorSchema = v.looseObject({
  code: v.string(),
  message: longText,
  retryable: v.optional(v.boolean()),
  details: anyJson,
});
const subagentOutcome = v.looseObject({
  ...subagentCall,
  status: v.optional(v.string()),
  output: anyJson,
  usage,
  error: v.optional(errorSchema),
});
const runOutcome = v.looseObject({ status: v.optional(v.string()), output: anyJson, usage, durationMs });
const evaluationRun = {
  name: shortText,
  provider: v.optional(v.string()),
  model: v.optional(v.string()),
  evaluatedThroughSequence: v.optional(v.pipe(v.number(), v.integer())),
};
const score = v.pipe(v.number(), v.minValue(0), v.maxValue(1));

export const evaluationMetricSchema: v.GenericSchema<EvaluationMetric> = v.looseObject({
  name: v.string(),
  score,
  threshold: score,
  passed: v.boolean(),
  reasoning: v.string(),
  evidence: v.array(v.string()),
});

/** ISO 8601 in UTC, such as `2026-09-28T12:00:04Z`. */
export const timestampSchema = v.pipe(
  v.string(),
  v.regex(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{1,9})?Z$/, "must be an ISO time in UTC, such as 2026-09-28T12:00:04Z"),
  v.check(exists, "must be a time that exists"),
);

/** JavaScript reads the 30th of February as a day of March, which others that read the log would not. */
function exists(text: string): boolean {
  const time = Date.parse(text);
  return !Number.isNaN(time) && new Date(time).toISOString().startsWith(text.slice(0, 10));
}

const messageBase = {
  name: v.optional(v.string()),
  status: v.optional(v.picklist(["completed", "incomplete"])),
  provider: v.optional(v.string()),
  model: v.optional(v.string()),
  responseId: v.optional(v.string()),
  stopReason: v.optional(v.string()),
  parsedOutput: anyJson,
  usage,
  durationMs,
};

/** The shape of each type's data. Fields beyond it are kept: older and other writers know more. */
export const eventDataSchemas: { [T in EventType]: v.GenericSchema<unknown, unknown> } = {
  "session.created": v.looseObject({ sessionId: v.string(), agent: v.string() }),
  "session.updated": v.looseObject({}),
  "session.paused": v.looseObject({}),
  "session.resumed": v.looseObject({}),
  "session.completed": v.looseObject({ status: v.picklist(["completed", "failed"]) }),
  "run.started": v.looseObject({ agent: v.optional(v.string()) }),
  "run.paused": runOutcome,
  "run.completed": runOutcome,
  "run.failed": v.looseObject({ error: errorSchema, usage, durationMs }),
  "run.stopped": v.looseObject({ reason: v.optional(v.string()), usage, durationMs }),
  "message.created": v.variant("role", [
    v.looseObject({ ...messageBase, role: v.literal("user"), content: v.array(messageContentSchema) }),
    v.looseObject({ ...messageBase, role: v.literal("assistant"), content: v.array(assistantContentSchema) }),
    v.looseObject({ ...messageBase, role: v.literal("tool"), content: v.array(toolResultContentSchema) }),
  ]),
  "action.requested": v.looseObject({ ...call, arguments: anyJson, argumentsText: v.optional(v.string()) }),
  "action.completed": v.looseObject({ ...call, output: anyJson, durationMs }),
  "action.failed": v.looseObject({ ...call, error: errorSchema, durationMs, synthetic: v.optional(v.boolean()) }),
  "client_action.requested": v.looseObject({
    calls: v.pipe(
      v.array(v.looseObject({ ...call, arguments: anyJson, expiresAt: v.optional(timestampSchema) })),
      v.minLength(1),
      v.maxLength(100),
    ),
  }),
  "client_action.resolved": v.looseObject({
    results: v.pipe(
      v.array(
        v.looseObject({
          callId: callIdSchema,
          outcome: v.optional(v.picklist(["answered", "denied", "expired", "cancelled"])),
          output: anyJson,
          isError: v.optional(v.boolean()),
          reason: v.optional(v.string()),
        }),
      ),
      v.minLength(1),
      v.maxLength(100),
    ),
    resolvedBy: v.optional(v.string()),
  }),
  "skill.requested": v.looseObject(call),
  "skill.loaded": v.looseObject({
    callId: v.optional(callIdSchema),
    name: shortText,
    alreadyLoaded: v.optional(v.boolean()),
  }),
  "skill.failed": v.looseObject({ callId: v.optional(callIdSchema), name: shortText, error: errorSchema }),
  "evaluation.requested": v.looseObject({
    ...evaluationRun,
    expiresAt: v.optional(timestampSchema),
    attempt: v.optional(v.pipe(v.number(), v.integer(), v.minValue(1))),
  }),
  "evaluation.completed": v.looseObject({
    ...evaluationRun,
    status: v.picklist(["passed", "failed"]),
    metrics: v.array(evaluationMetricSchema),
    usage,
    durationMs,
  }),
  "evaluation.failed": v.looseObject({
    ...evaluationRun,
    error: v.looseObject({ code: v.optional(v.string()), message: longText }),
    durationMs,
  }),
  "subagent.initiated": v.looseObject(subagentCall),
  "subagent.resumed": v.looseObject(subagentCall),
  "subagent.completed": subagentOutcome,
  "subagent.paused": subagentOutcome,
  "subagent.failed": subagentOutcome,
};

/** Tells whether this version knows the type. */
export function isEventType(type: string): type is EventType {
  return Object.hasOwn(eventDataSchemas, type);
}
