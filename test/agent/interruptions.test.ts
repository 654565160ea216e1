import type { ActionTool, Interruption, LoopTool, SubagentTool } from "@orcha/agent/loop";
import { runLoop } from "@orcha/agent/loop";
import { scriptedModel } from "@orcha/agent/testing";
import { describe, expect, test } from "vitest";
import { action, anything, batches, drive, expectStorable, find, inputOf, turnsAfter, says } from "./driving.ts";

const all: Interruption[] = ["stop", "pause", "lost"];

/** A signal that a test pulls when something has happened. */
function interruption(): { signal: AbortSignal; pull: (reason: unknown) => void } {
  const controller = new AbortController();
  return { signal: controller.signal, pull: (reason) => controller.abort(reason) };
}

const last: Record<Interruption, string[][]> = { stop: [["run.stopped"]], pause: [["run.paused"]], lost: [] };

describe.each(all)("%s", (how) => {
  test("before the start: no model is asked", async () => {
    const model = scriptedModel([{ text: "Hi" }]);
    const { steps, end } = await drive(inputOf({ model, signal: AbortSignal.abort(how) }));
    expect(model.requests).toHaveLength(0);
    expect(batches(steps)).toEqual(last[how]);
    expect(end.status).toBe({ stop: "stopped", pause: "paused", lost: "lost" }[how]);
  });

  test("while the model thinks: nothing is kept", async () => {
    const { signal, pull } = interruption();
    const model = scriptedModel([{ text: "Hi", delayMs: 60_000 }]);
    setTimeout(() => pull(how), 10);
    const { steps } = await drive(inputOf({ model, signal }));
    expect(batches(steps)).toEqual(last[how]);
    expect(model.requests[0]?.abortSignal?.aborted).toBe(true);
  });

  test("in the midst of an answer: what was shown is kept", async () => {
    const { signal, pull } = interruption();
    const model = scriptedModel([{ reasoning: "Hm", text: "Hello, Alice", chunkSize: 5, delayMs: 5 }]);
    const { events, end } = await drive(inputOf({ model, signal }), (step) => {
      if (step.type === "text" && step.text === "Hello, Ali") pull(how);
    });
    expect(model.requests[0]?.abortSignal?.aborted).toBe(true);
    const message = { type: "message.created", data: { status: "incomplete", content: [{ type: "text", text: "Hello, Ali" }] } };
    const said = {
      stop: { events: [message, { type: "run.stopped" }], end: { status: "stopped", output: "Hello, Ali" } },
      pause: { events: [message, { type: "run.paused", data: { output: "Hello, Ali" } }], end: { status: "paused", output: "Hello, Ali" } },
      lost: { events: [], end: { status: "lost" } },
    };
    expect({ events, end }).toMatchObject(said[how]);
    expectStorable(events);
  });

  test("between a request and its action: the action doesn't begin", async () => {
    const { signal, pull } = interruption();
    const model = scriptedModel([{ toolCalls: [{ name: "look" }, { name: "look" }] }]);
    const look = action("look", async () => expect.unreachable());
    const { steps, events } = await drive(inputOf({ model, signal, tools: [look] }), (step) => {
      if (step.type === "events" && step.events.some(({ type }) => type === "action.requested")) pull(how);
    });
    const rest = { stop: [["action.failed", "run.stopped"]], pause: [["action.failed", "run.paused"]], lost: [] }[how];
    expect(batches(steps)).toEqual([["assistant"], ["action.requested"], ...rest]);
    expectStorable(events);
  });

  test("while an action works", async () => {
    const { signal, pull } = interruption();
    const model = scriptedModel([{ toolCalls: [{ name: "slow" }, { name: "slow" }] }]);
    const heard: unknown[] = [];
    const slow: ActionTool = action("slow", async (_call, told) => {
      told.addEventListener("abort", () => heard.push(told.reason));
      setTimeout(() => pull(how), 5);
      await new Promise((resolve) => setTimeout(resolve, how === "pause" ? 20 : 60_000).unref());
      return "slowly";
    });
    const began = Date.now();
    const { steps, events, end } = await drive(inputOf({ model, signal, tools: [slow] }));
    expect(Date.now() - began).toBeLessThan(20_000);
    const rest = { stop: [["action.failed", "run.stopped"]], pause: [["action.completed", "run.paused"]], lost: [] }[how];
    expect(batches(steps)).toEqual([["assistant"], ["action.requested"], ...rest]);
    expect(heard).toEqual(how === "pause" ? [] : [how]);
    expect(events.flatMap((event) => (event.type === "action.failed" ? [event.data.error.code] : []))).toEqual(how === "stop" ? ["aborted"] : []);
    expect(end).not.toHaveProperty("output");
    expectStorable(events);
  });

  test("while subagents work: they are told", async () => {
    const { signal, pull } = interruption();
    const model = scriptedModel([{ toolCalls: [{ name: "run_agent" }, { name: "run_agent" }] }]);
    const heard: unknown[] = [];
    const tool: SubagentTool = {
      kind: "subagent",
      name: "run_agent",
      inputSchema: anything,
      begin: async ({ callId }) => ({ opened: "initiated", agent: "researcher", sessionId: callId }),
      execute: async ({ callId }, _delegation, told) => {
        setTimeout(() => pull(how), 5);
        await new Promise((resolve) => told.addEventListener("abort", resolve));
        heard.push(told.reason);
        if (callId === "call_2") return { type: "paused", data: { status: "paused" } };
        return how === "stop" ? new Promise(() => undefined) : { type: "failed", data: { status: "stopped" } };
      },
    };
    const { steps, events } = await drive(inputOf({ model, signal, tools: [tool] }));
    expect(heard).toEqual([how, how]);
    const ends = batches(steps).slice(2).flat();
    const expected = { stop: ["subagent.paused", "subagent.failed", "tool", "run.stopped"], pause: ["subagent.failed", "subagent.paused", "run.paused"], lost: [] };
    expect([...ends].sort()).toEqual([...expected[how]].sort());
    expectStorable(events);
  });

  test("between subagents' openings and their work", async () => {
    const { signal, pull } = interruption();
    const model = scriptedModel([{ toolCalls: [{ name: "run_agent" }] }]);
    const tool: SubagentTool = {
      kind: "subagent",
      name: "run_agent",
      inputSchema: anything,
      begin: async ({ callId }) => ({ opened: "initiated", agent: "researcher", sessionId: callId }),
      execute: async () => expect.unreachable(),
    };
    const { steps } = await drive(inputOf({ model, signal, tools: [tool] }), (step) => {
      if (step.type === "events" && step.events.some(({ type }) => type === "subagent.initiated")) pull(how);
    });
    const rest = { stop: [["subagent.failed", "tool", "run.stopped"]], pause: [["run.paused"]], lost: [] }[how];
    expect(batches(steps).slice(2)).toEqual(rest);
  });

  test.each(["skill", "silent", "client_action"] as const)("while a %s tool works", async (kind) => {
    const { signal, pull } = interruption();
    const never = async (): Promise<never> => {
      setTimeout(() => pull(how), 5);
      await new Promise((resolve) => setTimeout(resolve, how === "pause" ? 10 : 60_000).unref());
      throw new Error("late");
    };
    const base = { name: "tool", inputSchema: anything };
    const tools: LoopTool[] = [
      kind === "skill" ? { ...base, kind, load: never } : kind === "silent" ? { ...base, kind, execute: never } : { ...base, kind, findFault: never },
    ];
    const model = scriptedModel([{ toolCalls: [{ name: "tool", arguments: { name: "x" } }] }]);
    const { steps } = await drive(inputOf({ model, signal, tools }));
    expect(batches(steps).flat().at(-1)).toBe({ stop: "run.stopped", pause: "run.paused", lost: kind === "skill" ? "skill.requested" : "assistant" }[how]);
  });

  test("while a repeated call waits", async () => {
    const { signal, pull } = interruption();
    const headers = { "retry-after": "50" };
    const model = scriptedModel([{ error: { message: "busy", retryable: true, headers } }, { text: "Hi" }]);
    setTimeout(() => pull(how), 10);
    const { steps } = await drive(inputOf({ model, signal }));
    expect(model.requests).toHaveLength(1);
    expect(batches(steps)).toEqual(last[how]);
  });
});

test("a check of the output that hangs doesn't hold a stop up", async () => {
  const { signal, pull } = interruption();
  const output = { schema: { type: "object" }, check: () => new Promise<never>(() => setTimeout(() => pull("stop"), 5)) };
  const { steps } = await drive(inputOf({ model: scriptedModel([{ text: "{}" }]), signal, output }));
  expect(batches(steps)).toEqual([["assistant", "run.stopped"]]);
});

test("a model that doesn't hear its signal is not waited for, and its stream is let go of", async () => {
  const { signal, pull } = interruption();
  let isCancelled = false;
  const stream = new ReadableStream({ cancel: () => void (isCancelled = true) });
  const doStream = async (): Promise<{ stream: ReadableStream }> => {
    setTimeout(() => pull("stop"), 5);
    await new Promise((resolve) => setTimeout(resolve, 20));
    return { stream };
  };
  const { end } = await drive(inputOf({ model: { ...scriptedModel([]), doStream }, signal }));
  expect(end.status).toBe("stopped");
  await expect.poll(() => isCancelled).toBe(true);
});

test("another reason than these stops the run and is told", async () => {
  const { events } = await drive(inputOf({ model: scriptedModel([]), signal: AbortSignal.abort(new Error("the budget is spent")) }));
  expect(find(events, "run.stopped")).toMatchObject({ status: "stopped", reason: "the budget is spent" });
  const plain = await drive(inputOf({ model: scriptedModel([]), signal: AbortSignal.abort() }));
  expect(find(plain.events, "run.stopped")).not.toHaveProperty("reason");
});

test("a stop that comes when the answer is whole changes nothing", async () => {
  const { signal, pull } = interruption();
  const { end, steps } = await drive(inputOf({ model: scriptedModel([{ text: "Hi" }]), signal }), (step) => {
    if (step.type === "events") pull("stop");
  });
  expect(end.status).toBe("completed");
  expect(batches(steps)).toEqual([["assistant", "run.completed"]]);
});

test("whoever stops asking stops the model", async () => {
  const model = scriptedModel([{ text: "Hello, Alice", chunkSize: 2, delayMs: 1 }]);
  for await (const step of runLoop(inputOf({ model }))) if (step.type === "text") break;
  expect(model.requests[0]?.abortSignal?.aborted).toBe(true);
});

test("an answer that was cut stays in the conversation once the user goes on", async () => {
  const { signal, pull } = interruption();
  const model = scriptedModel([{ text: "Hello, Alice", chunkSize: 5, delayMs: 1 }, { text: "Sure" }]);
  const first = await drive(inputOf({ model, signal }), (step) => {
    if (step.type === "text") pull("stop");
  });
  const turns = [...turnsAfter([says("Hi")], first.events), says("Go on")];
  await drive(inputOf({ model, turns }));
  expect(model.requests[1]?.prompt.map(({ role }) => role)).toEqual(["user", "assistant", "user"]);
  expect(batches(first.steps)).toEqual([["assistant (incomplete)", "run.stopped"]]);
});
