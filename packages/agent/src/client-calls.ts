import type { ClientActionCall, ToolCallContent } from "@orcha/contract";
import type { CallRound } from "./call-round.ts";
import { faultOf } from "./fault.ts";
import type { ClientActionTool } from "./loop-tool.ts";
import type { Ending } from "./run-state.ts";
import { Work } from "./work.ts";

const graceMs = 200;

/** Asks for what a person or an app has to do, and lets the run wait for it; nothing where all is answered. */
export async function clientCalls(round: CallRound): Promise<Ending | undefined> {
  const { input } = round.run;
  const requested: ClientActionCall[] = [];
  const all: ClientActionCall[] = [];
  for (const { call, tool } of round.waiting("client_action")) {
    const isKnown = round.open.requested.has(call.callId);
    const fault = isKnown ? undefined : await findFault(round, call, tool);
    if (fault !== undefined) {
      round.settle(call, { output: fault, isError: true });
      continue;
    }
    const { callId, name, arguments: given } = call;
    const expires = isKnown || tool.expiresInMs === undefined ? {} : { expiresAt: new Date(input.now() + tool.expiresInMs).toISOString() };
    const asked: ClientActionCall = { callId, name, ...(given === undefined ? {} : { arguments: given }), ...expires };
    all.push(asked);
    if (!isKnown) requested.push(asked);
  }
  const ended = round.ended();
  if (ended) return ended;
  return all.length === 0 ? undefined : round.with(round.run.waiting(requested, all));
}

async function findFault(round: CallRound, call: ToolCallContent, tool: ClientActionTool): Promise<string | undefined> {
  if (call.arguments === undefined) return "the arguments are not a JSON object";
  const check = tool.findFault;
  if (!check) return undefined;
  const work = new Work(round.run.input.signal, { graceMs });
  const end = await work.end(() => check(call.arguments));
  work.close(end.type !== "given up");
  if (end.type === "done") return end.value === undefined ? undefined : faultOf(end.value, "the arguments don't fit");
  return end.type === "failed" ? faultOf(end.error, "the arguments could not be checked") : undefined;
}
