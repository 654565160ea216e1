import type { ScriptReply, ScriptToolCall } from "@orcha/agent/testing";
import type { AnyCall, AnyStep } from "./step.ts";

/** A step as the scripted model says it. */
export function replyOf(step: AnyStep, calls: readonly { callId: string; call: AnyCall }[]): ScriptReply {
  const { reasoning, chunkSize, delayMs, usage, fail } = step;
  const text = textOf(step);
  return {
    ...(reasoning === undefined ? {} : { reasoning }),
    ...(text === undefined ? {} : { text }),
    ...(chunkSize === undefined ? {} : { chunkSize }),
    ...(delayMs === undefined ? {} : { delayMs }),
    ...(usage === undefined ? {} : { usage }),
    ...(calls.length === 0 ? {} : { toolCalls: calls.map(({ callId, call }) => ({ callId, ...toolCallOf(call) })) }),
    ...(fail === undefined ? {} : { error: fail }),
  };
}

function textOf(step: AnyStep): string | undefined {
  if (step.text !== undefined) return step.text;
  const isAnswer = step.action === undefined && step.clientAction === undefined && step.output !== undefined;
  if (!isAnswer) return undefined;
  return typeof step.output === "string" ? step.output : JSON.stringify(step.output);
}

function toolCallOf(call: AnyCall): ScriptToolCall {
  if (call.action !== undefined) return { name: call.action, arguments: written(call.arguments) };
  if (call.clientAction !== undefined) return { name: call.clientAction, arguments: written(call.arguments) };
  if (call.skill !== undefined) return { name: "load_skill", arguments: { name: call.skill } };
  return { name: "run_agent", arguments: { agent: call.subagent, input: call.input } };
}

/** A model writes its arguments as text, which any value has. */
function written(given: unknown): string {
  return JSON.stringify(given ?? {});
}
