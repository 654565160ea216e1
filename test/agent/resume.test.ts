import type { LoopTool, OpenRound, SubagentTool } from "@orcha/agent/loop";
import { scriptedModel } from "@orcha/agent/testing";
import type { ToolCallContent, Turn } from "@orcha/contract";
import { expect, test } from "vitest";
import { action, anything, batches, drive, find, inputOf, labelOf, says } from "./driving.ts";

function callOf(callId: string, name: string): ToolCallContent {
  return { type: "tool_call", callId, name, arguments: {} };
}

function openRound(calls: ToolCallContent[], rest: Partial<OpenRound> = {}): OpenRound {
  return { calls, results: new Map(), requested: new Set(), delegated: new Map(), ...rest };
}

const earlier = { inputTokens: 100, outputTokens: 10, reasoningTokens: null, cacheReadTokens: 0, cacheWriteTokens: 0 };

test("stored results are never worked for again; what was asked for runs with its key and is not asked for twice", async () => {
  const calls = [callOf("c1", "look"), callOf("c2", "look"), callOf("c3", "look"), callOf("c4", "load_skill"), callOf("c5", "approve")];
  const ran: string[] = [];
  const tools: LoopTool[] = [
    action("look", async ({ callId }) => {
      ran.push(callId);
      return `fresh ${callId}`;
    }),
    { kind: "skill", name: "load_skill", inputSchema: anything, load: async () => expect.unreachable() },
    { kind: "client_action", name: "approve", inputSchema: anything },
  ];
  const open = openRound(calls, {
    results: new Map([
      ["c1", { callId: "c1", name: "look", output: "stored" }],
      ["c4", { callId: "c4", name: "load_skill", output: { loaded: true } }],
      ["c5", { callId: "c5", name: "approve", output: { approved: true } }],
    ]),
    requested: new Set(["c1", "c2", "c4", "c5"]),
  });
  const turns: Turn[] = [
    says("Hi"),
    { role: "assistant", content: calls },
    { role: "tool", content: [{ callId: "c1", name: "look", output: "stored" }] },
    { role: "tool", content: [{ callId: "c5", name: "approve", output: { approved: true } }] },
  ];
  const model = scriptedModel([{ text: "Done", usage: earlier }]);
  const { steps, events, end } = await drive(
    inputOf({ model, tools, turns, now: () => 5000, resume: { round: 1, usage: earlier, startedAt: 1000, open } }),
  );
  expect(ran).toEqual(["c2", "c3"]);
  expect(batches(steps)).toEqual([["action.completed", "action.requested"], ["action.completed", "tool"], ["assistant", "run.completed"]]);
  expect(find(events, "action.requested")).toMatchObject({ callId: "c3", idempotencyKey: "key:c3" });
  const outputs = model.requests[0]?.prompt.flatMap(({ role, content }) => (role === "tool" ? content : []));
  expect(outputs?.map((part) => (part.type === "tool-result" ? part.output : undefined))).toEqual([
    { type: "text", value: "stored" },
    { type: "text", value: "fresh c2" },
    { type: "text", value: "fresh c3" },
    { type: "json", value: { loaded: true } },
    { type: "json", value: { approved: true } },
  ]);
  expect(steps.find(({ type }) => type === "text")).toMatchObject({ round: 1 });
  expect(end).toMatchObject({ usage: { inputTokens: 200 } });
  expect(find(events, "run.completed")).toMatchObject({ durationMs: 4000, usage: { inputTokens: 200 } });
});

test("a paused result that the log shows gives way to the one that comes", async () => {
  const calls = [callOf("c1", "run_agent")];
  const tool: SubagentTool = {
    kind: "subagent",
    name: "run_agent",
    inputSchema: anything,
    begin: async () => expect.unreachable(),
    execute: async (_call, { agent, sessionId }) => ({ type: "completed", data: { status: "completed", output: `${agent} ${sessionId}` } }),
  };
  const open = openRound(calls, { delegated: new Map([["c1", { agent: "researcher", sessionId: "child" }]]) });
  const turns: Turn[] = [says("Hi"), { role: "assistant", content: calls }, { role: "tool", content: [{ callId: "c1", output: "paused" }] }];
  const model = scriptedModel([{ text: "Done" }]);
  const { steps } = await drive(inputOf({ model, tools: [tool], turns, resume: { round: 1, open } }));
  expect(batches(steps)).toEqual([["subagent.completed", "tool"], ["assistant", "run.completed"]]);
  expect(JSON.stringify(model.requests[0]?.prompt)).toContain("researcher child");
  expect(JSON.stringify(model.requests[0]?.prompt)).not.toContain("paused");
});

test("client actions that were asked for are waited for without a word", async () => {
  const tools: LoopTool[] = [{ kind: "client_action", name: "approve", inputSchema: anything, findFault: async () => "too late to check" }];
  const open = openRound([callOf("c1", "approve")], { requested: new Set(["c1"]) });
  const { steps, end } = await drive(inputOf({ model: scriptedModel([]), tools, resume: { round: 1, open } }));
  expect(steps).toEqual([]);
  expect(end).toEqual({ status: "waiting_for_client_action", calls: [{ callId: "c1", name: "approve", arguments: {} }] });
});

test("a round whose results are all there only needs its tool turn", async () => {
  const open = openRound([callOf("c1", "look")], { results: new Map([["c1", { callId: "c1", name: "look", output: 1 }]]) });
  const { steps } = await drive(inputOf({ model: scriptedModel([{ text: "Done" }]), resume: { round: 1, open } }));
  expect(batches(steps)).toEqual([["tool"], ["assistant", "run.completed"]]);
});

test("rounds since the last pause count, as the driver says", async () => {
  const tools = [action("look", async () => "seen")];
  const call = { toolCalls: [{ name: "look" }] };
  const spent = await drive(inputOf({ model: scriptedModel(() => call), tools, resume: { round: 10 } }));
  expect(spent.end.status).toBe("failed");
  const fresh = await drive(inputOf({ model: scriptedModel([call, { text: "Done" }]), tools, resume: { round: 10, actionRounds: 0 } }));
  expect(fresh.end.status).toBe("completed");
});

test("a run that is stopped while delegations wait for a restart closes them", async () => {
  const tool: SubagentTool = {
    kind: "subagent",
    name: "run_agent",
    inputSchema: anything,
    begin: async () => expect.unreachable(),
    execute: async () => expect.unreachable(),
  };
  const open = openRound([callOf("c1", "run_agent")], { delegated: new Map([["c1", { agent: "researcher", sessionId: "child" }]]) });
  const { events } = await drive(inputOf({ model: scriptedModel([]), tools: [tool], signal: AbortSignal.abort("stop"), resume: { round: 1, open } }));
  expect(events.map(labelOf)).toEqual(["subagent.failed", "tool", "run.stopped"]);
});
