import { RunFailure, type LoopTool, type OutputFormat, type SkillTool, type SubagentTool } from "@orcha/agent/loop";
import { scriptedModel } from "@orcha/agent/testing";
import { OrchaError, type Turn } from "@orcha/contract";
import { expect, test } from "vitest";
import { action, anything, batches, drive, expectStorable, find, inputOf, labelOf, says } from "./driving.ts";

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
  expectStorable(events);
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
  expectStorable(events);
});

test("the next round sees the calls and their results", async () => {
  const model = scriptedModel([
    { text: "Let me look.", toolCalls: [{ name: "look", arguments: { city: "Paris" } }], usage: { inputTokens: 10, outputTokens: 2 } },
    { text: "Sunny.", usage: { inputTokens: 20, outputTokens: 3, reasoningTokens: 1 } },
  ]);
  const { steps, end } = await drive(inputOf({ model, tools: [action("look", async () => "22°C")] }));
  expect(model.requests[1]?.prompt.slice(1)).toEqual([
    {
      role: "assistant",
      content: [
        { type: "text", text: "Let me look." },
        { type: "tool-call", toolCallId: "call_1", toolName: "look", input: { city: "Paris" } },
      ],
    },
    { role: "tool", content: [{ type: "tool-result", toolCallId: "call_1", toolName: "look", output: { type: "text", value: "22°C" } }] },
  ]);
  expect(steps.filter(({ type }) => type === "text")).toEqual([
    { type: "text", round: 0, text: "Let me look.", delta: "Let me look." },
    { type: "text", round: 1, text: "Sunny.", delta: "Sunny." },
  ]);
  expect(end).toMatchObject({ status: "completed", output: "Sunny.", usage: { inputTokens: 30, outputTokens: 5, reasoningTokens: 1 } });
});

test("a call id that the conversation has is renamed before anything is logged", async () => {
  const before: Turn[] = [
    says("Hi"),
    { role: "assistant", content: [{ type: "tool_call", callId: "call_0", name: "look", arguments: {} }] },
    { role: "tool", content: [{ callId: "call_0", name: "look", output: "old" }] },
  ];
  const twice = [
    { name: "look", callId: "call_0" },
    { name: "look", callId: "call_0" },
    { name: "look", callId: "" },
  ];
  const keys: (string | undefined)[] = [];
  const model = scriptedModel([{ toolCalls: twice }, { text: "Done" }]);
  const { events } = await drive(inputOf({ model, turns: before, tools: [action("look", async ({ callId }) => callId)] }));
  for (const event of events) if (event.type === "action.requested") keys.push(event.data.idempotencyKey);
  expect(keys).toEqual(["key:call_0_2", "key:call_0_3", "key:call"]);
  expectStorable(events);
});

test("arguments keep their exact text where their JSON differs, and none are made up", async () => {
  const calls = ['{"id": 9007199254740993}', '{"command":"ls -la', "", "[1]"].map((text) => ({ name: "look", arguments: text }));
  const seen: unknown[] = [];
  const look = action("look", async ({ arguments: given }) => void seen.push(given));
  const { events } = await drive(inputOf({ model: scriptedModel([{ toolCalls: calls }, { text: "Done" }]), tools: [look] }));
  const requests = events.flatMap((event) => (event.type === "action.requested" ? [event.data] : []));
  expect(requests.map(({ argumentsText }) => argumentsText)).toEqual(['{"id": 9007199254740993}', '{"command":"ls -la', "", "[1]"]);
  expect(seen).toEqual([{ id: 9007199254740992 }, {}]);
  const faults = events.flatMap((event) => (event.type === "action.failed" ? [event.data.error.code] : []));
  expect(faults).toEqual(["invalid_arguments", "invalid_arguments"]);
});

test("what an action throws, or can't say as JSON, is an error result", async () => {
  const names = ["throws", "throwsText", "invalid", "date", "nothing", "sync", "foreign", "lazy"];
  const tools: LoopTool[] = [
    action("throws", async () => Promise.reject(new Error("no such order"))),
    action("throwsText", async () => Promise.reject("plain")),
    action("invalid", async () => Promise.reject(Object.assign(new Error("city is missing"), { code: "invalid_arguments" }))),
    action("date", async () => ({ at: new Date(0) })),
    action("nothing", async () => undefined),
    action("sync", () => {
      throw new Error("at once");
    }),
    // As a database's client may throw it, and as another realm's error is.
    action("foreign", async () => Promise.reject({ code: "23505", message: "the order is there already" })),
    action("lazy", async () => Object.defineProperty({}, "owner", { enumerable: true, get: () => { throw new Error("the owner was not loaded"); } })),
  ];
  const model = scriptedModel([{ toolCalls: names.map((name) => ({ name })) }, { text: "Done" }]);
  const { events, end } = await drive(inputOf({ model, tools }));
  const tool = events.find((event) => labelOf(event) === "tool");
  expect(tool?.data).toMatchObject({
    content: [
      { output: "no such order", isError: true },
      { output: "plain", isError: true },
      { output: "city is missing", isError: true },
      { output: "the action's output at at is a Date, which JSON can't carry", isError: true },
      { callId: "call_5", name: "nothing" },
      { output: "at once", isError: true },
      { output: "the order is there already", isError: true },
      { output: "the owner was not loaded", isError: true },
    ],
  });
  expect(events.flatMap((event) => (event.type === "action.failed" ? [event.data.error.code] : []))).toEqual([
    "action_failed",
    "action_failed",
    "invalid_arguments",
    "action_failed",
    "action_failed",
    "action_failed",
    "action_failed",
  ]);
  expect(end.status).toBe("completed");
  expectStorable(events);
});

test("client actions pause the run, in one step with what asks for them", async () => {
  const tools: LoopTool[] = [
    { kind: "client_action", name: "approve", inputSchema: anything, expiresInMs: 1000, findFault: async () => undefined },
    { kind: "client_action", name: "sign", inputSchema: anything },
    action("look", async () => "seen"),
  ];
  const calls = [{ name: "approve", arguments: { amount: 5 } }, { name: "look" }, { name: "sign" }, { name: "sign", arguments: "{" }];
  const model = scriptedModel([{ toolCalls: calls, usage: { inputTokens: 1, outputTokens: 1 } }]);
  const { steps, events, end } = await drive(inputOf({ model, tools, now: () => 1000 }));
  expect(batches(steps)).toEqual([["assistant"], ["action.requested"], ["action.completed", "client_action.requested", "run.paused"]]);
  const waiting = [
    { callId: "call_1", name: "approve", arguments: { amount: 5 }, expiresAt: "1970-01-01T00:00:02.000Z" },
    { callId: "call_3", name: "sign", arguments: {} },
  ];
  expect(find(events, "client_action.requested")).toEqual({ status: "waiting", calls: waiting });
  expect(find(events, "run.paused")).toMatchObject({ status: "waiting_for_client_action", usage: { inputTokens: 1 } });
  expect(end).toMatchObject({ status: "waiting_for_client_action", calls: waiting });
  expectStorable(events);
});

test.each([
  { maxRounds: undefined, rounds: 10 },
  { maxRounds: 2, rounds: 2 },
])("the model may act $rounds times, and answer once more", async ({ maxRounds, rounds }) => {
  const call = { toolCalls: [{ name: "look" }] };
  const tools = [action("look", async () => "seen")];
  const limit = maxRounds === undefined ? {} : { maxRounds };
  const good = scriptedModel([...Array.from({ length: rounds }, () => call), { text: "Done" }]);
  expect((await drive(inputOf({ model: good, tools, ...limit }))).end.status).toBe("completed");
  const eager = scriptedModel(() => call);
  const { steps, end } = await drive(inputOf({ model: eager, tools, ...limit }));
  expect(eager.requests).toHaveLength(rounds + 1);
  expect(end).toMatchObject({ status: "failed", error: { code: "execution_failed", retryable: false } });
  expect(batches(steps).at(-1)).toEqual(["assistant", "run.failed"]);
});

test("an answer cut at its limit fails the run, and its calls are neither run nor kept", async () => {
  const model = scriptedModel([{ text: "Once upon", toolCalls: [{ name: "look" }], finishReason: "length" }]);
  const look = action("look", async () => expect.unreachable());
  const { steps, events, end } = await drive(inputOf({ model, tools: [look], settings: { maxOutputTokens: 9 } }));
  expect(batches(steps)).toEqual([["assistant (incomplete)", "run.failed"]]);
  expect(events[0]?.data).toMatchObject({ stopReason: "max_tokens", content: [{ type: "text", text: "Once upon" }] });
  expect(end).toMatchObject({
    status: "failed",
    error: { code: "provider_error", retryable: true, details: { reason: "max_tokens", configuredMaxTokens: 9 } },
  });
});

test("a content filter that leaves nothing fails the run", async () => {
  const { end } = await drive(inputOf({ model: scriptedModel([{ finishReason: "content-filter" }]) }));
  expect(end).toMatchObject({ status: "failed", error: { code: "provider_error", details: { reason: "content_filter" } } });
  const some = await drive(inputOf({ model: scriptedModel([{ text: "Well", finishReason: "content-filter" }]) }));
  expect(some.end).toMatchObject({ status: "completed", output: "Well" });
  expect(some.events[0]?.data).toMatchObject({ stopReason: "content_filter" });
});

const output: OutputFormat = {
  schema: { $schema: "https://json-schema.org/draft/2020-12/schema", type: "object", properties: { city: { type: "string" } } },
  check: async (value) => (typeof (value as { city?: unknown } | null)?.city === "string" ? { value } : { fault: "city must be a string" }),
};

test.each([
  ['{"city":"Paris"}', { city: "Paris" }],
  ['Here you are:\n```json\n{"city":"Paris"}\n```\nEnjoy.', { city: "Paris" }],
  ['The answer is {"city":"Pa}ris \\"x"} as asked.', { city: 'Pa}ris "x' }],
  ['Of {cities} [1] is asked for: {"city":"Paris"}', { city: "Paris" }],
  ['```\n{"town":"London"}\n```\nor better:\n```\n{"city":"Paris"}\n```', { city: "Paris" }],
  ['A {brace that nobody closes, and {"city":"Paris"}', { city: "Paris" }],
])("structured output is found in %s", async (text, value) => {
  const model = scriptedModel([{ text }]);
  const { events, end } = await drive(inputOf({ model, output }));
  expect(end).toMatchObject({ status: "completed", output: value });
  expect(events[0]?.data).toMatchObject({ parsedOutput: value });
  expect(model.requests[0]?.responseFormat).toEqual({ type: "json", schema: { type: "object", properties: { city: { type: "string" } } } });
});

test.each([
  ["no JSON here", "it holds no JSON"],
  ['{"city":5}', "city must be a string"],
  ['{"city":"Par', "it holds no JSON"],
])("structured output that is not what was asked for fails the run: %s", async (text, fault) => {
  const { steps, end } = await drive(inputOf({ model: scriptedModel([{ text }]), output }));
  expect(batches(steps)).toEqual([["assistant", "run.failed"]]);
  expect(end).toMatchObject({ status: "failed", error: { code: "provider_error" } });
  expect(JSON.stringify(end)).toContain(fault);
});

test("a RunFailure ends the whole run, and its siblings", async () => {
  const told: unknown[] = [];
  const model = scriptedModel([{ toolCalls: [{ name: "run_agent" }, { name: "run_agent" }] }]);
  const subagent: SubagentTool = {
    kind: "subagent",
    name: "run_agent",
    inputSchema: anything,
    begin: async ({ callId }) => ({ opened: "initiated", agent: "researcher", sessionId: callId }),
    execute: async ({ callId }, _delegation, signal) => {
      if (callId === "call_1") throw new RunFailure("too many delegations");
      return new Promise((_resolve, reject) => {
        signal.addEventListener("abort", () => {
          told.push(callId);
          reject(new Error("late"));
        });
      });
    },
  };
  const { steps, end } = await drive(inputOf({ model, tools: [subagent] }));
  expect(end).toMatchObject({ status: "failed", error: { code: "execution_failed", message: "too many delegations" } });
  expect(batches(steps).at(-1)).toEqual(["subagent.failed", "subagent.failed", "tool", "run.failed"]);
  expect(told).toEqual(["call_2"]);
});

test("subagents work at once, and each end is told as it comes", async () => {
  const ends: (() => void)[] = [];
  const subagent: SubagentTool = {
    kind: "subagent",
    name: "run_agent",
    inputSchema: anything,
    begin: async ({ callId }) =>
      callId === "call_3" ? Promise.reject(new Error("no such agent")) : { opened: "resumed", agent: "researcher", sessionId: callId },
    execute: async ({ callId }) => {
      await new Promise<void>((resolve) => ends.push(resolve));
      return { type: "paused", data: { status: "waiting_for_client_action", output: callId } };
    },
  };
  const model = scriptedModel([{ toolCalls: [{ name: "run_agent" }, { name: "run_agent" }, { name: "run_agent" }] }, { text: "Done" }]);
  const driven = drive(inputOf({ model, tools: [subagent] }));
  await expect.poll(() => ends).toHaveLength(2);
  ends[1]?.();
  await new Promise((resolve) => setTimeout(resolve, 5));
  ends[0]?.();
  const { events, steps } = await driven;
  expect(events.flatMap((event) => (event.type === "subagent.paused" ? [event.data.callId] : []))).toEqual(["call_2", "call_1"]);
  expect(batches(steps)[1]).toEqual(["subagent.resumed", "subagent.resumed"]);
  expect(events.find((event) => labelOf(event) === "tool")?.data).toMatchObject({ content: [{}, {}, { output: "no such agent", isError: true }] });
});

test("media that the provider refuses is told of instead", async () => {
  const turns: Turn[] = [{ role: "user", content: [{ type: "audio", mimeType: "audio/ogg", fileUri: "https://example.com/a.ogg" }] }];
  const { UnsupportedFunctionalityError } = await import("@ai-sdk/provider");
  const model = scriptedModel(({ prompt }) => {
    if (JSON.stringify(prompt).includes('"file"')) throw new UnsupportedFunctionalityError({ functionality: "audio" });
    return { text: "Heard" };
  });
  expect((await drive(inputOf({ model, turns }))).end.status).toBe("completed");
  expect(model.requests.at(-1)?.prompt).toEqual([{ role: "user", content: [{ type: "text", text: "[audio: https://example.com/a.ogg]" }] }]);
});

test("settings reach the model, and OpenAI is asked to store nothing", async () => {
  const model = scriptedModel(() => ({ text: "Hi" }));
  const settings = { maxOutputTokens: 5, temperature: 0, seed: 1, headers: { "x-team": "a" }, providerOptions: { openai: { user: "u" }, xai: { a: 1 } } };
  await drive(inputOf({ model, settings }));
  expect(model.requests[0]).toMatchObject({ ...settings, providerOptions: { openai: { store: false, user: "u" }, xai: { a: 1 } } });
  await drive(inputOf({ model, settings: { providerOptions: { openai: { store: true } } } }));
  expect(model.requests[1]?.providerOptions).toEqual({ openai: { store: true } });
});

test("instructions that can't be made fail the run, with their own code", async () => {
  const instructions = (): string => {
    throw new OrchaError("invalid_input", "the variable city is missing");
  };
  const model = scriptedModel([]);
  const { end } = await drive(inputOf({ model, instructions }));
  expect(end).toEqual({ status: "failed", error: { code: "invalid_input", message: "the variable city is missing", retryable: false } });
  expect(model.requests).toHaveLength(0);
});
