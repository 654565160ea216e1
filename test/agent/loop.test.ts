import { type ActionTool, type ClientActionTool, type LoopTool, RunFailure, type SkillTool, type SubagentTool } from "@orcha/agent/loop";
import { scriptedModel } from "@orcha/agent/testing";
import { eventDataSchemas, type EventInput } from "@orcha/contract";
import * as v from "valibot";
import { expect, test } from "vitest";
import { batches, drive, inputOf, labelOf, says } from "./driving.ts";

const anything = { type: "object", properties: {} };

export function action(name: string, execute: ActionTool["execute"]): ActionTool {
  return { kind: "action", name, inputSchema: anything, idempotencyKey: ({ callId }) => `key:${callId}`, execute };
}

function isValid(events: readonly EventInput[]): void {
  for (const { type, data } of events) v.parse(eventDataSchemas[type], data);
}

test("an answer is told as it grows, and stored with the run's end", async () => {
  const model = scriptedModel([{ text: "Hello, Alice. How are you?", chunkSize: 10, usage: { inputTokens: 5, outputTokens: 7 } }]);
  const { steps, texts, events, end } = await drive(inputOf({ model, instructions: () => "Be kind" }));
  expect(texts).toEqual(["Hello, Ali", "Hello, Alice. How ar", "Hello, Alice. How are you?"]);
  expect(batches(steps)).toEqual([["assistant", "run.completed"]]);
  const usage = { inputTokens: 5, outputTokens: 7, reasoningTokens: null, cacheReadTokens: 0, cacheWriteTokens: 0 };
  expect(end).toEqual({ status: "completed", output: "Hello, Alice. How are you?", usage });
  expect(events[0]?.data).toMatchObject({
    role: "assistant",
    status: "completed",
    provider: "scripted",
    model: "script",
    responseId: "response_1",
    stopReason: "end_turn",
    content: [{ type: "text", text: "Hello, Alice. How are you?" }],
    usage,
  });
  expect(model.requests[0]?.prompt).toEqual([
    { role: "system", content: "Be kind" },
    { role: "user", content: [{ type: "text", text: "Hello" }] },
  ]);
  isValid(events);
});

test("unknown usage is absent", async () => {
  const { events, end } = await drive(inputOf({ model: scriptedModel([{ text: "Hi", usage: { inputTokens: 5 } }]) }));
  expect(end).not.toHaveProperty("usage");
  for (const { data } of events) expect(data).not.toHaveProperty("usage");
});

test("kinds go in order, a request is stored before its work, results stand in the model's order", async () => {
  const log: string[] = [];
  const tools: LoopTool[] = [
    { kind: "client_action", name: "approve", inputSchema: anything, findFault: async () => "amount is missing" },
    {
      kind: "subagent",
      name: "run_agent",
      inputSchema: anything,
      begin: async ({ callId }) => ({ opened: "initiated", agent: "researcher", sessionId: `child-${callId}` }),
      execute: async ({ callId }) => {
        log.push(`child ${callId}`);
        return { type: "completed", data: { status: "completed", output: "found" } };
      },
    } satisfies SubagentTool,
    { kind: "silent", name: "inspect", inputSchema: anything, execute: async () => ({ seen: true }) },
    action("look", async ({ callId }) => {
      log.push(`look ${callId}`);
      return { ok: true };
    }),
    { kind: "skill", name: "load_skill", inputSchema: anything, load: async (name) => (name === "triage" ? { alreadyLoaded: false } : undefined) } satisfies SkillTool,
  ];
  const names = ["approve", "run_agent", "run_agent", "inspect", "look", "load_skill", "load_skill", "fly"];
  const given = (name: string, index: number) => (name === "load_skill" ? { name: index === 5 ? "triage" : "cooking" } : {});
  const model = scriptedModel([
    { toolCalls: names.map((name, index) => ({ name, callId: `c${index}`, arguments: given(name, index) })) },
    { text: "Done" },
  ]);
  const { steps, events, end } = await drive(inputOf({ model, tools }), (step) => {
    if (step.type === "events") log.push(...step.events.map(labelOf));
  });
  expect(batches(steps)).toEqual([
    ["assistant"],
    ["skill.requested"],
    ["skill.loaded", "skill.requested"],
    ["skill.failed", "action.requested"],
    ["action.completed", "action.requested"],
    ["action.failed", "subagent.initiated", "subagent.initiated"],
    ["subagent.completed"],
    ["subagent.completed", "tool"],
    ["assistant", "run.completed"],
  ]);
  expect(log.indexOf("look c4")).toBeGreaterThan(log.indexOf("action.requested"));
  const tool = events.find((event) => labelOf(event) === "tool");
  expect(tool?.data).toEqual({
    role: "tool",
    content: [
      { callId: "c0", name: "approve", output: "amount is missing", isError: true },
      { callId: "c1", name: "run_agent", output: { agent: "researcher", childSessionId: "child-c1", status: "completed", output: "found" } },
      { callId: "c2", name: "run_agent", output: { agent: "researcher", childSessionId: "child-c2", status: "completed", output: "found" } },
      { callId: "c3", name: "inspect", output: { seen: true } },
      { callId: "c4", name: "look", output: { ok: true } },
      { callId: "c5", name: "load_skill", output: { loaded: true, name: "triage", alreadyLoaded: false } },
      { callId: "c6", name: "load_skill", output: 'there is no skill "cooking"', isError: true },
      {
        callId: "c7",
        name: "fly",
        output: 'there is no tool "fly"; there are approve, run_agent, inspect, look, load_skill',
        isError: true,
      },
    ],
  });
  expect(end.status).toBe("completed");
  isValid(events);
});
