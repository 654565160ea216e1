import { copyJson, findJsonFault, formatPath, maxJsonDepth, type EventError, type EventInput, type ToolCallContent } from "@orcha/contract";
import { loopCall, type CallRound } from "./call-round.ts";
import { faultOf } from "./fault.ts";
import { interruptionOf } from "./interruption.ts";
import type { LoopStep } from "./loop-step.ts";
import type { ActionTool, SilentTool } from "./loop-tool.ts";
import { Work, type WorkEnd } from "./work.ts";

/** How long an action is waited for after a stop, in milliseconds. */
const graceMs = 200;

/** Levels of the event around an output: data, content, block, and the output's own. */
const levelsAround = 4;

/** Runs an action between its request and its result, each stored before what follows. */
export async function* runAction(round: CallRound, call: ToolCallContent, tool: ActionTool): AsyncGenerator<LoopStep, void> {
  if (round.ended()) return;
  if (!round.open.requested.has(call.callId)) yield round.step(requestOf(call, tool));
  const { run } = round;
  const how = interruptionOf(run.input.signal);
  if (how === "lost") return;
  // Nobody is at work at it until the session goes on, and then the model decides anew.
  if (how !== undefined) return fail(round, call, how === "pause" ? unbegun : aborted);
  if (call.arguments === undefined) {
    return fail(round, call, { code: "invalid_arguments", message: "the arguments are not a JSON object" });
  }
  const startedAt = run.input.now();
  const work = new Work(run.input.signal, { graceMs });
  const end = await work.end((signal) => tool.execute(loopCall(call), signal));
  work.close(end.type !== "given up");
  if (interruptionOf(run.input.signal) === "lost") return;
  const durationMs = Math.max(0, run.input.now() - startedAt);
  const result = resultOf(end, work.signal);
  if ("error" in result) {
    if (end.type === "failed") round.note(end.error);
    return fail(round, call, result.error, durationMs);
  }
  const { callId, name } = call;
  round.settle(call, result, { type: "action.completed", data: { callId, name, ...result, durationMs } });
}

/** Runs a tool that the log knows only by its result. */
export async function runSilent(round: CallRound, call: ToolCallContent, tool: SilentTool): Promise<void> {
  if (round.ended()) return;
  const { signal } = round.run.input;
  const work = new Work(signal, { graceMs });
  const end = await work.end((told) => tool.execute(loopCall(call), told));
  work.close(end.type !== "given up");
  if (end.type === "failed") round.note(end.error);
  const result = resultOf(end, work.signal);
  round.settle(call, "error" in result ? { output: result.error.message, isError: true } : result);
}

/** Tells the model that a tool doesn't exist, and which do. */
export async function* refuseUnknown(round: CallRound, call: ToolCallContent): AsyncGenerator<LoopStep, void> {
  if (round.ended()) return;
  if (!round.open.requested.has(call.callId)) yield round.step(requestOf(call));
  const names = [...round.run.tools.keys()];
  const known = names.length === 0 ? "there are none" : `there are ${names.join(", ")}`;
  fail(round, call, { code: "unknown_action", message: `there is no tool "${call.name}"; ${known}` });
}

const aborted: EventError = { code: "aborted", message: "the run was stopped before the action ended" };
const unbegun: EventError = { code: "aborted", message: "the run was paused before the action began" };

function requestOf(call: ToolCallContent, tool?: ActionTool): EventInput {
  const { callId, name, arguments: given, argumentsText } = call;
  const idempotencyKey = tool?.idempotencyKey?.(loopCall(call));
  return {
    type: "action.requested",
    data: {
      callId,
      name,
      ...(given === undefined ? {} : { arguments: given }),
      ...(argumentsText === undefined ? {} : { argumentsText }),
      ...(idempotencyKey === undefined ? {} : { idempotencyKey }),
    },
  };
}

function fail(round: CallRound, call: ToolCallContent, error: EventError, durationMs?: number): void {
  const { callId, name } = call;
  const took = durationMs === undefined ? {} : { durationMs };
  round.settle(call, { output: error.message, isError: true }, { type: "action.failed", data: { callId, name, error, ...took } });
}

/** What an action gave, as JSON; an error of the code `invalid_arguments` keeps it. */
function resultOf(end: WorkEnd<unknown>, signal: AbortSignal): { output?: unknown } | { error: EventError } {
  if (end.type === "given up") return { error: aborted };
  if (end.type === "failed") {
    if (signal.aborted) return { error: aborted };
    return { error: { code: codeOf(end.error), message: faultOf(end.error, "the action failed") } };
  }
  if (end.value === undefined) return {};
  try {
    const fault = findJsonFault(end.value, maxJsonDepth - levelsAround);
    if (!fault) return { output: copyJson(end.value) };
    const message = faultOf(`the action's output${placeOf(fault.path)} ${fault.reason}`, "the action's output is no JSON");
    return { error: { code: "action_failed", message } };
  } catch (error) {
    // A property may be made when it is asked for, and that may fail.
    return { error: { code: "action_failed", message: faultOf(error, "the action's output can't be read") } };
  }
}

/** `InvalidArguments` by its code, which another copy of this package gives as well. */
function codeOf(error: unknown): string {
  try {
    const { code }: { code?: unknown } = Object(error) as object;
    return code === "invalid_arguments" ? code : "action_failed";
  } catch {
    return "action_failed";
  }
}

function placeOf(path: readonly (string | number)[]): string {
  return path.length === 0 ? "" : ` at ${formatPath(path)}`;
}
