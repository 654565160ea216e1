import { defineAgent, defineAgents } from "@orcha/contract";
import { createApp, memoryStore } from "@orcha/server";
import * as v from "valibot";
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

test("an agent that delegates to one whose metadata has to be given doesn't start", () => {
  const researcher = defineAgent({ metadata: v.object({ customerId: v.string(), team: v.optional(v.string()) }) });
  const delegating = defineAgents({ desk: defineAgent({ subagents: ["researcher"] }), researcher });
  const instructions = "You help.";
  const start = (implementations: object) => createApp({ agents: delegating, store: memoryStore(), implementations });
  const fault = /^desk\.subagents\[0\] can't be delegated to: researcher\.metadata\.customerId must be optional/;
  expect(() => start({ desk: { instructions }, researcher: { instructions } })).toThrow(fault);
  // Whoever runs it by itself, or the one that delegates elsewhere, gives what it needs.
  expect(() => start({ researcher: { instructions } })).not.toThrow();
});

test("an agent that delegates to one whose metadata may be left out starts", () => {
  const researcher = defineAgent({ metadata: v.object({ team: v.optional(v.string()) }) });
  const delegating = defineAgents({ desk: defineAgent({ subagents: ["researcher"] }), researcher });
  expect(() => createApp({ agents: delegating, store: memoryStore(), implementations: { desk: { instructions: "You help." } } })).not.toThrow();
});

test.each(["actions", "clientActions"])("an agent whose %s no model can be offered runs elsewhere, and doesn't start here", (kind) => {
  const odd = defineAgents({ desk: defineAgent({ [kind]: { look: { input: v.array(v.string()) } } }) });
  const start = (implementations: object) => createApp({ agents: odd, store: memoryStore(), implementations });
  const desk = { instructions: "You help.", ...(kind === "actions" ? { actions: { look: () => 1 } } : {}) };
  expect(() => start({ desk })).toThrow(`desk.${kind}.look.input must be an object's schema`);
  expect(() => createApp({ agents: odd, store: memoryStore() })).not.toThrow();
});
