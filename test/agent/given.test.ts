import { Agent, tool } from "@orcha/agent";
import { scriptedModel } from "@orcha/agent/testing";
import { createOrcha } from "@orcha/client";
import { defineAgent, defineAgents } from "@orcha/contract";
import { createApp, memoryStore } from "@orcha/server";
import * as v from "valibot";
import { expect, test } from "vitest";

const call = { toolCalls: [{ name: "sorted", arguments: { words: ["b", "a"] } }] };

test.each([
  ["a function", function sorted(words = [""]) { return words.sort(); }],
  ["a tool without a schema", { name: "sorted", execute: ({ words }: { words: string[] }) => words.sort() }],
  ["a tool with one", tool({ name: "sorted", input: v.object({ words: v.any() }), execute: ({ words }) => (words as string[]).sort() })],
])("what %s does with its arguments changes no history", async (_what, sorted) => {
  const agent = new Agent({ model: scriptedModel([call, { text: "Sorted." }]), tools: [sorted] });
  await agent.chat("Sort b and a");
  expect(agent.getHistory().slice(1, 3)).toMatchObject([
    { tool_calls: [{ function: { arguments: '{"words":["b","a"]}' } }] },
    { role: "tool", content: '["a","b"]' },
  ]);
});

test("what an action does with its arguments and metadata changes no session", async () => {
  const agents = defineAgents({ helper: defineAgent({ actions: { sorted: { input: v.object({ words: v.any() }) } } }) });
  const model = scriptedModel([call, { text: "Sorted." }]);
  const actions = {
    sorted: ({ words }: { words: string[] }, { metadata }: { metadata: Record<string, unknown> }) => {
      metadata["plan"] = "paid";
      return words.sort();
    },
  };
  const app = createApp({ agents, store: memoryStore(), implementations: { helper: { instructions: "You help.", model, actions } } });
  const orcha = createOrcha<typeof agents>({ baseUrl: "http://orcha.test", fetch: async (input, init) => app.fetch(new Request(input, init)) });
  const run = orcha.helper.run({ content: "Sort b and a", metadata: { plan: "free" } });
  expect(await run.result).toMatchObject({ status: "completed" });
  expect((await orcha.helper.get(run.sessionId)).metadata).toEqual({ plan: "free" });
  expect(JSON.stringify(model.requests[1]?.prompt)).toContain('{"words":["b","a"]}');
});
