import type { LanguageModelV4 } from "@ai-sdk/provider";
import { Agent } from "@orcha/agent";
import { defineAgent, defineAgents } from "@orcha/contract";
import { createOrcha } from "@orcha/client";
import { createApp, memoryStore } from "@orcha/server";
import * as v from "valibot";
import { expect, test } from "vitest";

/** A model that somebody wrote by hand: each request gets the next list of parts, whatever the types say. */
function handmade(...replies: unknown[][]): LanguageModelV4 {
  let asked = 0;
  return {
    specificationVersion: "v4",
    provider: "handmade",
    modelId: "odd",
    supportedUrls: {},
    doGenerate: () => Promise.reject(new Error("it only streams")),
    doStream: async () => {
      const parts = replies[asked] ?? [];
      asked += 1;
      const stream = new ReadableStream({
        start(controller) {
          for (const part of parts) controller.enqueue(part);
          controller.close();
        },
      });
      return { stream };
    },
  };
}

const usage = { inputTokens: { total: 3 }, outputTokens: { total: 2 } };
const finish = { type: "finish", usage, finishReason: { unified: "stop", raw: "stop" } };
const says = (delta: unknown) => [{ type: "text-start", id: "1" }, { type: "text-delta", id: "1", delta }, { type: "text-end", id: "1" }];
const call = { type: "tool-call", toolCallId: "call_1", toolName: "find", input: '{"order":"A-1"}' };
const done = [...says("Done."), finish];

const find = (order: string) => `${order} is lost`;

test.each([
  ["without an id", { toolCallId: undefined }, "A-1 is lost"],
  ["with an id that is null", { toolCallId: null }, "A-1 is lost"],
  ["with arguments that are an object already", { input: { order: "A-1" } }, "A-1 is lost"],
  ["without arguments", { input: undefined }, 'the argument "order" is missing'],
  ["without a name", { toolName: undefined }, 'there is no tool "unnamed"; there are find'],
])("a call %s gets its result", async (_how, odd, result) => {
  const agent = new Agent({ model: handmade([{ ...call, ...odd }, finish], done), tools: [find] });
  expect(await agent.chat("Where is it?")).toBe("Done.");
  expect(agent.getHistory()[2]).toMatchObject({ role: "tool", content: result });
});

test("a piece of text that is none says nothing", async () => {
  expect(await new Agent({ model: handmade([...says(undefined), ...says("Hi"), finish]) }).chat("Hello")).toBe("Hi");
});

// Cutting each piece out of the text so far took half a minute of it.
test("an answer in a great many pieces takes no longer for each of them", { timeout: 15_000 }, async () => {
  const pieces = Array.from({ length: 60_000 }, () => ({ type: "text-delta", id: "1", delta: "12345678" }));
  const agent = new Agent({ model: handmade([...pieces, finish], [...pieces, finish]) });
  let heard = 0;
  for await (const piece of agent.stream("Hello")) heard += piece.length;
  expect(heard).toBe(480_000);
  expect(await agent.chat("Again")).toHaveLength(480_000);
});

test.each([
  ["no usage", undefined],
  ["no tokens", {}],
  ["more than can be counted", { inputTokens: { total: Infinity }, outputTokens: { total: 1 } }],
])("an answer that cost %s is an answer", async (_what, odd) => {
  expect(await new Agent({ model: handmade([...says("Hi"), { ...finish, usage: odd }]) }).chat("Hello")).toBe("Hi");
});

test("a model of another specification is told from a stream that broke", async () => {
  const model = handmade([...says("Hi"), { ...finish, finishReason: "stop" }], done);
  const refused = expect.objectContaining({ code: "provider_error", retryable: false, message: expect.stringMatching(/specification v4/) });
  await expect(new Agent({ model }).chat("Hello")).rejects.toEqual(refused);
});

/** A server whose agent is the model, and a client of it. */
function servedBy(model: LanguageModelV4) {
  const agents = defineAgents({ painter: defineAgent({}) });
  const app = createApp({ agents, store: memoryStore(), implementations: { painter: { instructions: "You paint.", model } } });
  return createOrcha<typeof agents>({ baseUrl: "http://orcha.test", fetch: async (input, init) => app.fetch(new Request(input, init)) });
}

const url = new URL("https://models.test/fish.mp4");
test.each([
  ["text of base64", "image/png", { type: "data", data: "aGk=" }, { type: "image", mimeType: "image/png", fileUri: "data:image/png;base64,aGk=" }],
  ["bytes", "audio/mpeg", { type: "data", data: new Uint8Array([104, 105]) }, { type: "audio", mimeType: "audio/mpeg", fileUri: "data:audio/mpeg;base64,aGk=" }],
  ["an address", "video/mp4", { type: "url", url }, { type: "video", mimeType: "video/mp4", fileUri: url.href }],
  ["something else", "application/pdf", { type: "data", data: "aGk=" }, { type: "url", mimeType: "application/pdf", fileUri: "data:application/pdf;base64,aGk=" }],
  ["too much for the log", "image/png", { type: "data", data: "x".repeat(65_536) }, { type: "text", text: "[image: image/png, too large to be kept]" }],
])("what a model makes is in the history, and the model is told of it: %s", async (_what, mediaType, data, block) => {
  const model = handmade([...says("Here."), { type: "file", mediaType, data }, finish], done);
  const asked: unknown[] = [];
  const orcha = servedBy({ ...model, doStream: (options) => (asked.push(options.prompt), model.doStream(options)) });
  const run = orcha.painter.run("A fish, please");
  expect((await run.result).status).toBe("completed");
  const { items } = await orcha.painter.history(run.sessionId);
  expect(items.at(-1)).toMatchObject({ role: "assistant", content: [{ type: "text", text: "Here." }, block] });
  await orcha.painter.resume(run.sessionId, "Thanks").result;
  expect(JSON.stringify(asked.at(-1))).toContain("text" in block ? block.text : `[${block.type}: `);
});

test("two texts that a model writes at once are kept as people saw them grow", async () => {
  const delta = (id: string, text: string) => ({ type: "text-delta", id, delta: text });
  const begun = ["1", "2"].map((id) => ({ type: "text-start", id }));
  const run = servedBy(handmade([...begun, delta("2", "One, "), delta("1", "two, "), delta("2", "three, "), delta("1", "four"), finish])).painter.run("Count");
  const shown: string[] = [];
  for await (const frame of run.stream) shown.push(frame.status === "streaming" || frame.status === "completed" ? frame.output : "");
  const result = await run.result;
  expect(result).toMatchObject({ output: "One, two, three, four" });
  for (const text of shown) expect("One, two, three, four".startsWith(text)).toBe(true);
});

test("what nobody thought of fails the turn, and the run", async () => {
  const hostile = new Proxy({}, { getPrototypeOf: () => { throw new Error("not even that"); } });
  const fail = (): never => { throw hostile; };
  const agent = new Agent({ model: handmade([call, finish], done), tools: [{ name: "find", execute: fail }] });
  await expect(agent.chat("Where is it?")).rejects.toMatchObject({ code: "execution_failed", message: "not even that" });

  const agents = defineAgents({ helper: defineAgent({ actions: { find: { input: v.object({ order: v.string() }) } } }) });
  const implementations = { helper: { instructions: "You help.", model: handmade([call, finish], done), actions: { find: fail } } };
  const app = createApp({ agents, store: memoryStore(), implementations });
  const orcha = createOrcha<typeof agents>({ baseUrl: "http://orcha.test", fetch: async (input, init) => app.fetch(new Request(input, init)) });
  expect(await orcha.helper.run("Where is it?").result).toMatchObject({ status: "failed", error: { code: "execution_failed", message: "not even that" } });
});
