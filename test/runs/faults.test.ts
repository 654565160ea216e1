import { memoryStore } from "@orcha/server";
import { expect, test } from "vitest";
import { bedOf, eventsOf, variables } from "./bed.ts";
import { scriptedModel, type ScriptEntry } from "@orcha/agent/testing";

const look: ScriptEntry = { toolCalls: [{ callId: "call_1", name: "lookup_order", arguments: { orderId: "A-1" } }] };

/** A server whose look-up fails as given. */
function failing(fail: () => never) {
  const model = scriptedModel([look, { text: "I couldn't look." }]);
  const supportAgent = {
    model,
    instructions: "You help.",
    actions: { lookup_order: fail, refund: () => ({}) },
    skills: { incident_triage: "Stay calm." },
    evaluations: { response_quality: async () => ({ groundedness: { score: 1, reasoning: "It is." } }) },
  };
  return bedOf(memoryStore(), { implementations: { supportAgent } });
}

test("an action's error of megabytes is cut, at a whole character", async () => {
  const { orcha } = failing(() => {
    throw new Error("😀".repeat(3_000_000));
  });
  const run = orcha.supportAgent.run({ content: "A-1?", variables });
  expect(await run.result).toMatchObject({ status: "completed" });
  const failed = (await eventsOf(orcha, run.sessionId)).find(({ type }) => type === "action.failed");
  if (failed?.type !== "action.failed") throw new Error("nothing failed");
  const { message } = failed.data.error;
  expect(message.length).toBeLessThanOrEqual(4000);
  expect(message).toMatch(/^(😀)+…$/u);
  const tool = (await orcha.supportAgent.messages(run.sessionId)).find(({ role }) => role === "tool");
  expect(tool?.content).toContain("…");
  expect(tool?.content?.length).toBeLessThan(4100);
});

test.each([
  ["message", Object.defineProperty(new Error("x"), "message", { get: () => { throw new Error("not this one"); } })],
  ["code", Object.defineProperty(new Error("x"), "code", { get: () => { throw new Error("not this one"); } })],
])("an action's error whose %s can't be read fails the action, not the run", async (_property, error) => {
  const { orcha } = failing(() => {
    throw error;
  });
  const run = orcha.supportAgent.run({ content: "A-1?", variables });
  expect(await run.result).toMatchObject({ status: "completed", output: "I couldn't look." });
  const { items } = await orcha.supportAgent.history(run.sessionId);
  expect(items.find(({ type }) => type === "action")).toMatchObject({ status: "failed" });
});

test("what inspect_agent tells the model of a long child is cut item by item", async () => {
  const delegate: ScriptEntry = { toolCalls: [{ callId: "call_sub", name: "run_agent", arguments: { agent: "researcher", input: "Find it" } }] };
  const inspect: ScriptEntry = ({ prompt }) => {
    const sessionId = /"childSessionId":"([^"]+)"/.exec(JSON.stringify(prompt))?.[1];
    return { toolCalls: [{ callId: "call_look", name: "inspect_agent", arguments: { sessionId } }] };
  };
  const { orcha, models } = bedOf(memoryStore(), {
    support: [delegate, inspect, { text: "Done." }],
    researcher: [{ text: "é".repeat(300_000), chunkSize: 300_000 }],
  });
  expect(await orcha.supportAgent.run({ content: "Find it", variables }).result).toMatchObject({ status: "completed" });
  const told = models.supportAgent.requests[2]?.prompt.at(-1)?.content[0];
  if (typeof told !== "object" || told.type !== "tool-result" || told.output.type !== "json") throw new Error("nothing was told");
  expect(told.output.value).toMatchObject({ runStatus: "completed", total: 2, items: [{ role: "user" }, { role: "assistant", content: [{ text: expect.stringMatching(/^é+…$/) }] }] });
  expect(JSON.stringify(told.output.value).length).toBeLessThan(20_000);
});
