import { skillResultOf, type EventInput, type ToolCallContent } from "@orcha/contract";
import type { CallRound } from "./call-round.ts";
import { faultOf } from "./fault.ts";
import { interruptionOf } from "./interruption.ts";
import type { LoopStep } from "./loop-step.ts";
import type { SkillTool } from "./loop-tool.ts";
import { Work } from "./work.ts";

const graceMs = 200;
const longestName = 200;

/** Loads a skill between its request and what came of it. */
export async function* runSkill(round: CallRound, call: ToolCallContent, tool: SkillTool): AsyncGenerator<LoopStep, void> {
  if (round.ended()) return;
  const { callId } = call;
  const wanted = nameIn(call.arguments);
  const name = wanted?.slice(0, longestName) || "unnamed";
  if (!round.open.requested.has(callId)) yield round.step({ type: "skill.requested", data: { callId, name } });
  const fail = (code: string, message: string): void => {
    const event = { type: "skill.failed", data: { callId, name, error: { code, message } } } satisfies EventInput;
    round.settle(call, skillResultOf(event), event);
  };
  const { signal } = round.run.input;
  if (interruptionOf(signal) !== undefined) return;
  if (wanted === undefined) return fail("invalid_arguments", 'the arguments must be an object with the skill\'s "name"');
  const work = new Work(signal, { graceMs });
  const end = await work.end(() => tool.load(wanted));
  work.close(end.type !== "given up");
  if (end.type === "given up") return;
  if (end.type === "failed") {
    round.note(end.error);
    return fail("skill_failed", faultOf(end.error, "the skill could not be loaded"));
  }
  if (end.value === undefined) return fail("skill_not_found", `there is no skill "${name}"`);
  const event = { type: "skill.loaded", data: { callId, name, alreadyLoaded: end.value.alreadyLoaded } } satisfies EventInput;
  round.settle(call, skillResultOf(event), event);
}

function nameIn(given: unknown): string | undefined {
  const { name }: { name?: unknown } = Object(given) as object;
  return typeof name === "string" && name !== "" ? name : undefined;
}
