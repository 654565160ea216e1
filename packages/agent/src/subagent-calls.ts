import { subagentResultOf, type EventDataByType, type EventInput, type ToolCallContent } from "@orcha/contract";
import { loopCall, type CallRound } from "./call-round.ts";
import { faultOf } from "./fault.ts";
import { interruptionOf } from "./interruption.ts";
import type { LoopStep } from "./loop-step.ts";
import type { Delegation, SubagentEnd, SubagentTool } from "./loop-tool.ts";
import { Work, type WorkEnd } from "./work.ts";

/** How long subagents are waited for after a stop, in milliseconds: they have a log of their own to close. */
const graceMs = 1000;

interface Delegated {
  call: ToolCallContent;
  tool: SubagentTool;
  delegation: Delegation;
}

/** Hands calls to subagents: all begin, the log says so, and then all work at once. */
export async function* runSubagents(round: CallRound): AsyncGenerator<LoopStep, void> {
  const work = new Work(round.run.input.signal, { graceMs, hearsPause: true });
  let isOver = false;
  try {
    const { delegated, opened } = await begin(round, work);
    // Nothing has started, so of new delegations nothing needs to be said.
    if (round.ended()) return leave(round, delegated.filter(({ call }) => round.open.delegated.has(call.callId)));
    if (opened.length > 0) yield round.step(...opened);
    if (round.ended()) return leave(round, delegated);
    yield* workAll(round, work, delegated);
    isOver = true;
  } finally {
    work.close(isOver);
  }
}

/** Settles where each call goes; a call that can't go anywhere gets an error result. */
async function begin(round: CallRound, work: Work): Promise<{ delegated: Delegated[]; opened: EventInput[] }> {
  const delegated: Delegated[] = [];
  const opened: EventInput[] = [];
  for (const { call, tool } of round.waiting("subagent")) {
    const known = round.open.delegated.get(call.callId);
    if (known) {
      delegated.push({ call, tool, delegation: { opened: "initiated", ...known } });
      continue;
    }
    if (round.ended()) break;
    const end = await work.end(() => tool.begin(loopCall(call)));
    if (end.type === "given up") break;
    if (end.type === "failed") {
      round.note(end.error);
      round.settle(call, { output: faultOf(end.error, "the agent could not be called"), isError: true });
      continue;
    }
    const { opened: how, agent, sessionId } = end.value;
    delegated.push({ call, tool, delegation: end.value });
    opened.push({ type: `subagent.${how}`, data: { callId: call.callId, agent, sessionId } });
  }
  return { delegated, opened };
}

async function* workAll(round: CallRound, work: Work, delegated: readonly Delegated[]): AsyncGenerator<LoopStep, void> {
  const running = new Map(
    delegated.map((one) => [one, work.end((told) => one.tool.execute(loopCall(one.call), one.delegation, told)).then((end) => ({ one, end }))]),
  );
  while (running.size > 0) {
    const { one, end } = await Promise.race(running.values());
    running.delete(one);
    if (interruptionOf(round.run.input.signal) === "lost") return;
    settle(round, one, end);
    if (end.type === "failed" && round.note(end.error)) {
      work.close(false);
      return leave(round, [...running.keys()]);
    }
    if (running.size > 0) yield round.step();
  }
}

/** Ends delegations that nobody waits for any longer; a pause leaves them to whoever goes on. */
function leave(round: CallRound, delegated: readonly Delegated[]): void {
  if (interruptionOf(round.run.input.signal) === "pause") return;
  for (const one of delegated) settle(round, one, { type: "given up" });
}

function settle(round: CallRound, { call, delegation: { agent, sessionId } }: Delegated, end: WorkEnd<SubagentEnd>): void {
  const own = end.type === "done" ? end.value : failureOf(end);
  const data: EventDataByType["subagent.completed"] = { callId: call.callId, agent, sessionId, ...own.data };
  round.settle(call, subagentResultOf(data), { type: `subagent.${own.type}`, data });
}

function failureOf(end: Exclude<WorkEnd<SubagentEnd>, { type: "done" }>): SubagentEnd {
  const error =
    end.type === "given up"
      ? { code: "aborted", message: "the run was stopped before the agent ended" }
      : { code: "execution_failed", message: faultOf(end.error, "the agent failed") };
  return { type: "failed", data: { status: "failed", error } };
}
