import { refuseUnknown, runAction, runSilent } from "./action-calls.ts";
import { CallRound } from "./call-round.ts";
import { clientCalls } from "./client-calls.ts";
import type { OpenRound } from "./loop-input.ts";
import type { LoopStep } from "./loop-step.ts";
import type { Ending, RunState } from "./run-state.ts";
import { runSkill } from "./skill-calls.ts";
import { runSubagents } from "./subagent-calls.ts";

/**
 * Gets every call of a turn its result, by kind and not in the model's order: what a later kind does may depend on an
 * earlier one, and a person is asked last. Each kind does nothing once the run is to end. Gives that end, or nothing
 * where the model goes on.
 */
export async function* actionRound(run: RunState, open: OpenRound): AsyncGenerator<LoopStep, Ending | undefined> {
  const round = new CallRound(run, open);
  for (const { call, tool } of round.waiting("skill")) yield* runSkill(round, call, tool);
  for (const call of round.unanswered()) {
    const tool = run.tools.get(call.name);
    if (!tool) yield* refuseUnknown(round, call);
    else if (tool.kind === "action") yield* runAction(round, call, tool);
  }
  for (const { call, tool } of round.waiting("silent")) await runSilent(round, call, tool);
  yield* runSubagents(round);
  const ended = round.ended() ?? (await clientCalls(round));
  if (ended) return ended;
  yield round.step(run.said(round.toolTurn()));
  return undefined;
}
