import { defineAgent, defineAgents } from "@orcha/contract";
import { createApp, memoryStore } from "@orcha/server";
import { expect, test } from "vitest";

const agents = defineAgents({ helper: defineAgent({}) });

test.each([
  ["actionTimeoutMs", Infinity],
  ["actionTimeoutMs", 0],
  ["evaluationTimeoutMs", Infinity],
  ["evaluationTimeoutMs", 2 ** 31],
  ["maxRounds", NaN],
  ["maxSubagentsPerRun", -1],
])("an agent whose %s is %d doesn't start", (name, value) => {
  const implementations = { helper: { instructions: "You help.", [name]: value } };
  expect(() => createApp({ agents, store: memoryStore(), implementations })).toThrow(new RegExp(`^implementations\\.helper\\.${name} must be a number`));
});

test("an agent may act as often as it wants", () => {
  const implementations = { helper: { instructions: "You help.", maxRounds: Infinity, actionTimeoutMs: 2 ** 31 - 1 } };
  expect(() => createApp({ agents, store: memoryStore(), implementations })).not.toThrow();
});
