import type { EventInput, ToolResult } from "@orcha/client";
import { exportSessionLog, importSessions, memoryStore, type Call } from "@orcha/server";
import { expect, test } from "vitest";
import { agents } from "../agents.ts";
import { clientOf, type TestClient } from "../harness.ts";
import { describeStores } from "../stores.ts";

const calls = ["a", "b"].map((callId) => ({ callId, name: "request_human_approval", arguments: { amount: 1, currency: "USD" } }));

async function waiting(orcha: TestClient): Promise<string> {
  const { sessionId } = await orcha.supportAgent.create();
  const events: EventInput[] = [
    { type: "message.created", data: { role: "assistant", content: calls.map((call) => ({ type: "tool_call", ...call })) } },
    { type: "client_action.requested", data: { calls } },
  ];
  await orcha.supportAgent.append(sessionId, { events });
  return sessionId;
}

describeStores("answers to client actions", (make) => {
  async function given() {
    const orcha = clientOf(await make());
    const sessionId = await waiting(orcha);
    const resume = (...toolResults: unknown[]) => orcha.supportAgent.resume(sessionId, { toolResults: toolResults as ToolResult[] }).result;
    const count = async () => (await orcha.supportAgent.get(sessionId)).sequence;
    return { orcha, sessionId, resume, count };
  }
  const yes = { approved: true };

  test("are recorded in any subset, each by one event", async () => {
    const { orcha, sessionId, resume } = await given();
    expect(await resume({ callId: "b", output: yes })).toMatchObject({
      status: "waiting_for_client_action",
      sequence: 4,
      pendingClientActions: [{ callId: "a" }],
    });
    expect((await orcha.supportAgent.get(sessionId)).runStatus).toBe("waiting_for_client_action");
    expect(await resume({ callId: "a", deny: true, reason: "too much" })).toMatchObject({ status: "recorded", sequence: 5 });
    expect((await orcha.supportAgent.get(sessionId)).runStatus).toBe("running");
    const { items } = await orcha.supportAgent.history(sessionId);
    expect(items).toMatchObject([
      { callId: "a", status: "failed", outcome: "denied", summary: "request human approval was denied." },
      { callId: "b", status: "completed", outcome: "answered", summary: "request human approval completed." },
    ]);
    // Both stand right behind their turn, as a provider wants them.
    expect((await orcha.supportAgent.messages(sessionId)).slice(1)).toEqual([
      { role: "tool", tool_call_id: "b", name: "request_human_approval", content: '{"approved":true}' },
      { role: "tool", tool_call_id: "a", name: "request_human_approval", content: '{"error":"denied","reason":"too much"}' },
    ]);
  });

  test("given again, at any later time, are the stored answer; isError: false equals absent", async () => {
    const { orcha, sessionId, resume, count } = await given();
    const first = await resume({ callId: "a", output: yes });
    await resume({ callId: "b", output: yes });
    await orcha.supportAgent.append(sessionId, { messages: [{ role: "user", content: "later" }] });
    const before = await count();
    const again = await resume({ callId: "a", output: yes, isError: false });
    expect(again).toMatchObject({ status: "recorded", sequence: "sequence" in first ? first.sequence : 0 });
    expect(await count()).toBe(before);
  });

  test("for a call that was cancelled are told so", async () => {
    const { orcha, sessionId, resume } = await given();
    await orcha.supportAgent.stop(sessionId);
    const message = 'call "a" was cancelled and takes no answer any more';
    expect(await resume({ callId: "a", output: yes })).toMatchObject({ error: { code: "action_result_conflict", message, details: { outcome: "cancelled" } } });
  });

  test("with other data are a conflict", async () => {
    const { resume, count } = await given();
    await resume({ callId: "a", output: yes });
    await resume({ callId: "b", deny: true });
    const before = await count();
    for (const other of [
      { callId: "a", output: { approved: false } },
      { callId: "a", output: yes, isError: true },
      { callId: "a", deny: true },
      { callId: "b", output: yes },
      { callId: "b", deny: true, reason: "another" },
    ]) {
      expect(await resume(other)).toMatchObject({ status: "failed", error: { code: "action_result_conflict", details: { callId: other.callId } } });
    }
    expect(await count()).toBe(before);
  });

  test("two at once: one is recorded, the other is the same answer or a conflict", async () => {
    const { resume, orcha, sessionId } = await given();
    const same = await Promise.all([resume({ callId: "a", output: yes }), resume({ callId: "a", output: yes })]);
    expect(same).toMatchObject([{ sequence: 4 }, { sequence: 4 }]);
    const other = await Promise.all([resume({ callId: "b", output: yes }), resume({ callId: "b", deny: true })]);
    expect(other.map(({ status }) => status).sort()).toEqual(["failed", "recorded"]);
    const { events } = await orcha.supportAgent.events(sessionId);
    expect(events.filter(({ type }) => type === "client_action.resolved")).toHaveLength(2);
  });

  test.each([
    ["missing_tool_results", []],
    ["unknown_call_id", [{ callId: "nope", output: 1 }]],
    ["invalid_tool_result", [{ callId: "a" }]],
    ["invalid_tool_result", [{ callId: "a", output: { approved: "yes" } }]],
    ["invalid_tool_result", [{ callId: "a", output: yes, isError: "no" }]],
    ["invalid_tool_result", [{ callId: "a", deny: false }]],
    ["invalid_tool_result", [{ callId: "a", deny: true, output: yes }]],
    ["invalid_tool_result", [{ callId: "a", output: yes, extra: 1 }]],
    ["invalid_tool_result", [{ callId: "a", output: yes }, { callId: "a", output: yes }]],
    ["unknown_call_id", [{ callId: "a", output: yes }, { callId: "nope", output: yes }]],
  ])("%s: %j", async (code, toolResults) => {
    const { resume, count } = await given();
    const before = await count();
    expect(await resume(...toolResults)).toMatchObject({ status: "failed", error: { code, retryable: false } });
    expect(await count()).toBe(before);
  });

  test("an error is an answer too, whatever its shape", async () => {
    const { orcha, sessionId, resume } = await given();
    await resume({ callId: "a", output: "the form crashed", isError: true });
    const { items } = await orcha.supportAgent.history(sessionId);
    expect(items[0]).toMatchObject({ status: "completed", outcome: "answered" });
  });
});

test("an answer may be as deep as a log that can be imported again", async () => {
  const store = memoryStore();
  const orcha = clientOf(store);
  const sessionId = await waiting(orcha);
  const nested = (levels: number): unknown => (levels === 0 ? true : [nested(levels - 1)]);
  const answer = (levels: number) => {
    const output: { approved: boolean } = Object.assign({ approved: true }, { note: nested(levels) });
    return orcha.supportAgent.resume(sessionId, { toolResults: [{ callId: "a", output }] }).result;
  };
  const message = expect.stringMatching(/^toolResults\[0\]\.output\.note.* is nested deeper than 60 levels$/) as unknown;
  expect(await answer(60)).toMatchObject({ error: { code: "invalid_tool_result", message } });
  expect(await answer(59)).toMatchObject({ status: "waiting_for_client_action" });
  const admin: Call = { principal: { tenant: "default", scopes: ["log", "write", "admin"] } };
  const log: Uint8Array[] = [];
  for await (const line of exportSessionLog({ agents, store }, admin, { agent: "supportAgent", sessionId })) log.push(new TextEncoder().encode(line));
  expect(await importSessions({ agents, store: memoryStore() }, admin, log, { agent: "supportAgent" })).toMatchObject({ sessions: [{ sessionId }] });
});
