import type { EventInput } from "@orcha/client";
import { expect, test } from "vitest";
import { clientOf, codeOf, surroundings } from "../harness.ts";
import { describeStores } from "../stores.ts";

const approval = { callId: "call_123", name: "request_human_approval", arguments: { amount: 750, currency: "USD" } };
const events: EventInput[] = [
  { type: "message.created", data: { role: "user", content: [{ type: "text", text: "Refund A-1042" }] } },
  { type: "run.started", run: 1, data: {} },
  { type: "action.requested", run: 1, data: { callId: "call_122", name: "lookup_order", arguments: { orderId: "A-1042" } } },
  { type: "action.completed", run: 1, data: { callId: "call_122", name: "lookup_order", output: { status: "lost" } } },
  { type: "client_action.requested", run: 1, data: { calls: [approval] } },
];

describeStores("fork", (make) => {
  async function given() {
    const time = surroundings();
    const store = await make();
    const orcha = clientOf(store, { surroundings: time });
    const { sessionId } = await orcha.supportAgent.create({ sessionId: "first", name: "Order", metadata: { vip: true } });
    await orcha.supportAgent.append(sessionId, { events });
    time.advance(60_000);
    return { store, orcha, time };
  }

  test("copies everything with its sequences and item ids, and cancels what waits", async () => {
    const { orcha } = await given();
    const before = await orcha.supportAgent.history("first");
    const copy = await orcha.supportAgent.fork("first");
    expect(copy).toMatchObject({
      sessionId: "ses_test_1",
      name: "Order",
      metadata: { vip: true },
      status: "active",
      runStatus: "stopped",
      pendingClientActions: [],
      lineage: { origin: "forked", sessionId: "first", throughSequence: 6 },
      createdAt: "2026-09-28T12:01:00.000Z",
    });
    const { items } = await orcha.supportAgent.history(copy.sessionId);
    expect(items.map(({ id }) => id)).toEqual(before.items.map(({ id }) => id));
    expect(items.map(({ createdAt }) => createdAt)).toEqual(before.items.map(({ createdAt }) => createdAt));
    expect(items.at(-1)).toMatchObject({ status: "failed", outcome: "cancelled" });
    const log = await orcha.supportAgent.events(copy.sessionId);
    const original = await orcha.supportAgent.events("first");
    expect(log.events.slice(1, 6)).toEqual(original.events.slice(1));
    expect(log.events.slice(6).map(({ type }) => type)).toEqual(["client_action.resolved", "run.stopped"]);
    expect(await orcha.supportAgent.history("first")).toEqual(before);
  });

  test("goes its own way, and so does the first", async () => {
    const { orcha } = await given();
    const { sessionId } = await orcha.supportAgent.fork("first", { name: "What if" });
    await orcha.supportAgent.append(sessionId, { messages: [{ role: "user", content: "Never mind" }] });
    await orcha.supportAgent.resume("first", { toolResults: [{ callId: "call_123", output: { approved: true } }] }).result;
    expect((await orcha.supportAgent.get(sessionId)).name).toBe("What if");
    expect((await orcha.supportAgent.get("first")).name).toBe("Order");
    await orcha.supportAgent.delete("first");
    expect((await orcha.supportAgent.history(sessionId)).total).toBe(4);
    expect((await orcha.supportAgent.list()).items.map((item) => item.sessionId)).toEqual([sessionId]);
  });

  test("copies up to a sequence", async () => {
    const { orcha } = await given();
    const copy = await orcha.supportAgent.fork("first", { throughSequence: 4 });
    const { items } = await orcha.supportAgent.history(copy.sessionId);
    expect(items).toMatchObject([{ id: "message:2" }, { id: "action:call_122", status: "failed", errorCode: "cancelled" }]);
    expect(copy.lineage).toEqual({ origin: "forked", sessionId: "first", throughSequence: 4 });
    for (const throughSequence of [0, 7, 1.5]) {
      expect(await codeOf(orcha.supportAgent.fork("first", { throughSequence }))).toBe("invalid_input");
    }
    expect(await codeOf(orcha.supportAgent.fork("nowhere"))).toBe("session_not_found");
    expect(await codeOf(orcha.researcher.fork("first"))).toBe("session_not_found");
  });

  test("ends the delegations that are under way: the copy can't go on with the first one's children", async () => {
    const { orcha } = await given();
    const child = { callId: "call_124", agent: "researcher", sessionId: "child" };
    await orcha.supportAgent.append("first", { events: [{ type: "subagent.initiated", run: 1, data: child }] });
    const copy = await orcha.supportAgent.fork("first");
    expect(copy.runStatus).toBe("stopped");
    const items = [(await orcha.supportAgent.history(copy.sessionId)).items.at(-1), (await orcha.supportAgent.history("first")).items.at(-1)];
    expect(items).toMatchObject([{ type: "subagent", status: "failed" }, { type: "subagent", status: "running" }]);
  });

  test("of a completed session goes on from before its end", async () => {
    const { orcha } = await given();
    await orcha.supportAgent.complete("first");
    await orcha.supportAgent.update("first", { name: "Closed" });
    const copy = await orcha.supportAgent.fork("first");
    expect(copy).toMatchObject({ status: "active", runStatus: "stopped", name: "Order" });
    await orcha.supportAgent.append(copy.sessionId, { messages: [{ role: "user", content: "Once more" }] });
  });

  test("is done once per key", async () => {
    const { orcha } = await given();
    const once = { idempotencyKey: "k" };
    const copy = await orcha.supportAgent.fork("first", once);
    expect(await orcha.supportAgent.fork("first", once)).toEqual(copy);
    expect((await orcha.supportAgent.list()).items).toHaveLength(2);
    expect(await codeOf(orcha.supportAgent.fork("first", { ifSequence: 5 }))).toBe("sequence_conflict");
  });

  test("leaves nothing at work in the copy: a delegation is the first session's alone", async () => {
    const { orcha } = await given();
    const delegation = { callId: "call_sub", agent: "researcher", sessionId: "ses_child" };
    const events = [{ type: "run.started" as const, run: 9, data: {} }, { type: "subagent.initiated" as const, run: 9, data: delegation }];
    const { lastSequence } = await orcha.supportAgent.append("first", { events });
    await orcha.supportAgent.append("first", { events: [{ type: "subagent.completed", run: 9, data: { ...delegation, output: "Found." } }] });
    const copy = await orcha.supportAgent.fork("first", { throughSequence: lastSequence });
    expect(copy.runStatus).toBe("stopped");
    const { items } = await orcha.supportAgent.history(copy.sessionId);
    expect(items.at(-1)).toMatchObject({ type: "subagent", callId: "call_sub", status: "failed" });
    expect((await orcha.supportAgent.events(copy.sessionId)).events.slice(-3)).toMatchObject([
      { type: "subagent.failed", data: { ...delegation, error: { code: "cancelled" } } },
      { type: "client_action.resolved" },
      { type: "run.stopped" },
    ]);
  });

  test("while a run holds the session needs a sequence", async () => {
    const { store, orcha, time } = await given();
    const ref = { tenant: "default", agent: "supportAgent", sessionId: "first" };
    await store.takeLease(ref, { owner: "server-1", until: time.now() + 10_000, now: time.now() });
    expect(await codeOf(orcha.supportAgent.fork("first"))).toBe("session_busy");
    expect((await orcha.supportAgent.fork("first", { throughSequence: 2 })).sequence).toBe(2);
  });
});

describeStores("while a run holds a session", (make) => {
  test("appends are busy; update, delete, answers and reads go on; a lease that ran out holds nothing", async () => {
    const time = surroundings();
    const store = await make();
    const orcha = clientOf(store, { surroundings: time }, { retry: false });
    await orcha.supportAgent.create({ sessionId: "first" });
    await orcha.supportAgent.append("first", { events });
    const ref = { tenant: "default", agent: "supportAgent", sessionId: "first" };
    await store.takeLease(ref, { owner: "server-1", until: time.now() + 10_000, now: time.now() });
    const message = { messages: [{ role: "user" as const, content: "hi" }] };
    const { error } = await orcha.supportAgent.append.safe("first", message);
    expect(error).toMatchObject({ code: "session_busy", retryable: true });
    expect(await codeOf(orcha.supportAgent.complete("first"))).toBe("session_busy");
    expect((await orcha.supportAgent.update("first", { name: "n" })).name).toBe("n");
    const answered = orcha.supportAgent.resume("first", { toolResults: [{ callId: "call_123", output: { approved: true } }] });
    expect(await answered.result).toMatchObject({ status: "recorded" });
    expect((await orcha.supportAgent.history("first")).total).toBe(3);
    time.advance(10_000);
    await orcha.supportAgent.append("first", message);
    await store.takeLease(ref, { owner: "server-2", until: time.now() + 10_000, now: time.now() });
    await orcha.supportAgent.delete("first");
  });
});

describeStores("a refusal under a key", (make) => {
  test("is the answer for good, though the call would pass now; what may pass is tried again", async () => {
    const orcha = clientOf(await make());
    const { sessionId } = await orcha.supportAgent.create();
    const once = { idempotencyKey: "k", ifSequence: 7 };
    const message = { messages: [{ role: "user" as const, content: "hi" }] };
    const refused = await orcha.supportAgent.append.safe(sessionId, message, once);
    expect(refused.error).toMatchObject({ code: "sequence_conflict", details: { sequence: 1, snapshot: { sessionId } } });
    for (let count = 0; count < 6; count += 1) await orcha.supportAgent.append(sessionId, message);
    const again = await orcha.supportAgent.append.safe(sessionId, message, once);
    expect(again.error).toMatchObject({ code: "sequence_conflict", details: { sequence: 1 } });
    // What is kept is a receipt, never content.
    expect(again.error?.details).not.toHaveProperty("snapshot");
    expect((await orcha.supportAgent.get(sessionId)).sequence).toBe(7);

    const missing = { idempotencyKey: "other" };
    expect(await codeOf(orcha.supportAgent.append("later", message, missing))).toBe("session_not_found");
    await orcha.supportAgent.create({ sessionId: "later" });
    expect(await codeOf(orcha.supportAgent.append("later", message, missing))).toBe("session_not_found");
    await orcha.supportAgent.append("later", message);
  });
});
