import type { EventInput } from "@orcha/client";
import { sessionEventsSchema, sessionHistorySchema, sessionSnapshotSchema, storedItemSchema } from "@orcha/contract";
import * as v from "valibot";
import { expect, test } from "vitest";
import { appOf, clientOf, codeOf, surroundings } from "../harness.ts";
import { describeStores } from "../stores.ts";

const approval = { callId: "call_123", name: "request_human_approval", arguments: { amount: 750, currency: "USD" } };
const asks: EventInput = { type: "client_action.requested", data: { calls: [approval] } };

describeStores("sessions", (make) => {
  test("create answers the snapshot of an empty session", async () => {
    const orcha = clientOf(await make(), { surroundings: surroundings() });
    expect(await orcha.supportAgent.create({ name: "  Order A-1042 " })).toEqual({
      sessionId: "ses_test_1",
      agent: "supportAgent",
      name: "Order A-1042",
      status: "active",
      metadata: {},
      createdAt: "2026-09-28T12:00:00.000Z",
      updatedAt: "2026-09-28T12:00:00.000Z",
      pendingClientActions: [],
      sequence: 1,
    });
  });

  test("ids of the server's own are ULIDs behind ses_", async () => {
    const orcha = clientOf(await make());
    expect((await orcha.supportAgent.create()).sessionId).toMatch(/^ses_[0-9A-HJKMNP-TV-Z]{26}$/);
  });

  test("an id is taken once per agent, and never given again", async () => {
    const orcha = clientOf(await make());
    await orcha.supportAgent.create({ sessionId: "mine" });
    expect(await codeOf(orcha.supportAgent.create({ sessionId: "mine" }))).toBe("session_exists");
    expect(await codeOf(orcha.supportAgent.restore([], { sessionId: "mine" }))).toBe("session_exists");
    expect((await orcha.researcher.create({ sessionId: "mine", metadata: { customerId: "c" } })).agent).toBe("researcher");
    await orcha.supportAgent.delete("mine");
    await orcha.supportAgent.delete("mine");
    expect(await codeOf(orcha.supportAgent.create({ sessionId: "mine" }))).toBe("session_exists");
    expect(await codeOf(orcha.supportAgent.get("mine"))).toBe("session_not_found");
    expect(await codeOf(orcha.supportAgent.delete("never"))).toBe("session_not_found");
    expect((await orcha.researcher.get("mine")).sessionId).toBe("mine");
  });

  test("metadata follows the agent's schema, on create and after an update", async () => {
    const orcha = clientOf(await make());
    const missing = await orcha.researcher.create.safe({});
    expect(missing.error).toMatchObject({ code: "invalid_input", details: { path: "metadata.customerId" } });
    const { sessionId } = await orcha.researcher.create({ metadata: { customerId: "c1" } });
    const updated = await orcha.researcher.update(sessionId, { metadata: { tier: "paid" } });
    expect(updated.metadata).toEqual({ customerId: "c1", tier: "paid" });
    const gone = await orcha.researcher.update.safe(sessionId, { unset: ["customerId"] });
    expect(gone.error).toMatchObject({ code: "invalid_input", details: { path: "metadata.customerId" } });
    expect((await orcha.researcher.get(sessionId)).metadata).toEqual({ customerId: "c1", tier: "paid" });
  });

  test("update merges, keeps null, unsets keys and clears the name", async () => {
    const orcha = clientOf(await make());
    const { sessionId } = await orcha.supportAgent.create({ name: "a", metadata: { one: 1, two: "2" } });
    const updated = await orcha.supportAgent.update(sessionId, { name: null, metadata: { one: null, three: true }, unset: ["two"] });
    expect(updated).not.toHaveProperty("name");
    expect(updated).toMatchObject({ metadata: { one: null, three: true }, sequence: 2 });
    expect(await codeOf(orcha.supportAgent.update(sessionId, {}))).toBe("invalid_input");
    const many = Object.fromEntries(Array.from({ length: 49 }, (_, index) => [`k${index}`, index]));
    expect(await codeOf(orcha.supportAgent.update(sessionId, { metadata: many }))).toBe("invalid_input");
  });

  test("complete ends what waits, and leaves reads, update and delete", async () => {
    const orcha = clientOf(await make());
    const { sessionId } = await orcha.supportAgent.create();
    const events: EventInput[] = [
      asks,
      { type: "action.requested", data: { callId: "a", name: "lookup_order", arguments: {} } },
      { type: "subagent.initiated", data: { callId: "b", agent: "researcher", sessionId: "child_1" } },
      { type: "subagent.initiated", data: { callId: "b", agent: "researcher", sessionId: "child_2" } },
      { type: "subagent.paused", data: { callId: "b", agent: "researcher", sessionId: "child_2", status: "waiting_for_client_action" } },
    ];
    await orcha.supportAgent.append(sessionId, { events });
    const completed = await orcha.supportAgent.complete(sessionId, { status: "failed", summary: "Gave up." });
    expect(completed).toMatchObject({ status: "completed", pendingClientActions: [], runStatus: "stopped" });
    const { items } = await orcha.supportAgent.history(sessionId);
    expect(items).toMatchObject([
      { type: "client_action", status: "failed", outcome: "cancelled" },
      { type: "action", status: "failed", errorCode: "cancelled" },
      { type: "subagent", childSessionId: "child_1", status: "failed" },
      { type: "subagent", childSessionId: "child_2", status: "failed" },
      { type: "session_completed", status: "failed", summary: "Gave up." },
    ]);
    for (const write of [
      () => orcha.supportAgent.append(sessionId, { messages: [{ role: "user", content: "more" }] }),
      () => orcha.supportAgent.complete(sessionId),
    ]) {
      expect(await codeOf(write())).toBe("session_completed");
    }
    expect((await orcha.supportAgent.update(sessionId, { name: "Done" })).name).toBe("Done");
    await orcha.supportAgent.delete(sessionId);
  });

  test("list runs from the last changed on, by cursor, with exact filters", async () => {
    const time = surroundings();
    const orcha = clientOf(await make(), { surroundings: time });
    for (let index = 0; index < 7; index += 1) {
      if (index % 2 === 0) time.advance(1000);
      await orcha.supportAgent.create({ sessionId: `s${index}`, metadata: { tenant: index % 2, odd: index % 2 === 1, text: "1" } });
    }
    const seen: string[] = [];
    for (let cursor: string | undefined, more = true; more; more = cursor !== undefined) {
      const page = await orcha.supportAgent.list({ pageSize: 2, ...(cursor === undefined ? {} : { cursor }) });
      seen.push(...page.items.map(({ sessionId }) => sessionId));
      cursor = page.nextCursor;
    }
    // The newest update first; those of the same moment by id.
    expect(seen).toEqual(["s6", "s4", "s5", "s2", "s3", "s0", "s1"]);

    time.advance(1000);
    await orcha.supportAgent.append("s0", { events: [asks] });
    await orcha.supportAgent.complete("s3");
    const ids = async (filter: Parameters<typeof orcha.supportAgent.list>[0]): Promise<string[]> =>
      (await orcha.supportAgent.list(filter)).items.map(({ sessionId }) => sessionId);
    expect(await ids({ status: "completed" })).toEqual(["s3"]);
    expect(await ids({ runStatus: "waiting_for_client_action" })).toEqual(["s0"]);
    expect(await ids({ metadata: { tenant: 1 } })).toEqual(["s3", "s5", "s1"]);
    expect(await ids({ metadata: { tenant: 0, odd: true } })).toEqual([]);
    expect(await ids({ metadata: { text: 1 } })).toEqual([]);
    expect(await ids({ metadata: { text: "1" }, status: "active", pageSize: 2 })).toEqual(["s0", "s6"]);
    expect(await codeOf(orcha.supportAgent.list({ cursor: "nonsense" }))).toBe("invalid_input");
    expect(await ids({})).not.toContain("elsewhere");
  });

  test("a batch that is half bad writes nothing, and names the path", async () => {
    const orcha = clientOf(await make());
    const { sessionId } = await orcha.supportAgent.create();
    const good: EventInput = { type: "message.created", data: { role: "user", content: [{ type: "text", text: "hi" }] } };
    const bad = { type: "action.completed", data: { name: "look" } } as unknown as EventInput;
    const { error } = await orcha.supportAgent.append.safe(sessionId, { events: [good, bad] });
    expect(error).toMatchObject({ code: "invalid_input", details: { path: "events[1].data.callId" } });
    const orphan = await orcha.supportAgent.append.safe(sessionId, {
      messages: [{ role: "user", content: "hi" }, { role: "tool", content: "x", tool_call_id: "nope" }],
    });
    expect(orphan.error).toMatchObject({ code: "history_invalid", message: 'orphaned tool_call_id "nope"', details: { index: 1 } });
    expect((await orcha.supportAgent.events(sessionId)).total).toBe(1);
  });

  test.each([
    ["session.completed", "session.* can't be appended"],
    ["session.created", "session.* can't be appended"],
    ["message.deleted", "is unknown"],
  ])("append refuses %s", async (type, words) => {
    const orcha = clientOf(await make());
    const { sessionId } = await orcha.supportAgent.create();
    const { error } = await orcha.supportAgent.append.safe(sessionId, { events: [{ type, data: {} } as unknown as EventInput] });
    expect(error?.message).toContain(words);
    expect(error?.details?.path).toBe("events[0].type");
  });

  test.each([
    ["run.started", { host: "server" }, "host"],
    ["run.started", { fence: 1 }, "fence"],
    ["evaluation.requested", { name: "response_quality", expiresAt: "2026-09-28T12:00:00Z" }, "expiresAt"],
    ["evaluation.requested", { name: "response_quality", attempt: 1 }, "attempt"],
  ])("append refuses %s with %j: a server would take that work for its own, and do it for callers that may not run", async (type, data, field) => {
    const orcha = clientOf(await make());
    const { sessionId } = await orcha.supportAgent.create();
    const { error } = await orcha.supportAgent.append.safe(sessionId, { events: [{ type, data, run: 1 } as unknown as EventInput] });
    expect(error).toMatchObject({ code: "invalid_input", details: { path: `events[0].data.${field}` } });
    expect((await orcha.supportAgent.get(sessionId)).sequence).toBe(1);
  });

  test.each(["2026-02-30T00:00:00Z", "2025-02-29T12:00:00.5Z", "2026-04-31T00:00:00Z", "2026-01-01T24:00:00Z"])(
    "append refuses %s, a time that does not exist",
    async (timestamp) => {
      const orcha = clientOf(await make());
      const { sessionId } = await orcha.supportAgent.create();
      const { error } = await orcha.supportAgent.append.safe(sessionId, { events: [{ ...asks, timestamp }] });
      expect(error).toMatchObject({ code: "invalid_input", details: { path: "events[0].timestamp" } });
    },
  );

  test("times of any year that exist are kept as they are, and order the list", async () => {
    const orcha = clientOf(await make());
    const times = ["9999-12-31T23:59:59.999999999Z", "2024-02-29T12:00:00Z", "1969-12-31T23:59:59.5Z", "0000-01-01T00:00:00Z"];
    for (const [index, timestamp] of times.toReversed().entries()) {
      await orcha.supportAgent.create({ sessionId: `at_${index}` });
      await orcha.supportAgent.append(`at_${index}`, { events: [{ ...asks, timestamp }] });
    }
    const listed: string[] = [];
    for (let cursor: string | undefined; ; ) {
      const { items, nextCursor } = await orcha.supportAgent.list({ pageSize: 1, ...(cursor === undefined ? {} : { cursor }) });
      listed.push(...items.map(({ updatedAt }) => updatedAt));
      cursor = nextCursor;
      if (cursor === undefined) break;
    }
    expect(listed).toEqual(times);
  });

  test("append refuses given sequences, empty batches, both kinds at once, and more than 1,000", async () => {
    const { rpc } = appOf(await make());
    const ref = { agent: "supportAgent", sessionId: "s" };
    await rpc("create", ref);
    const event = { type: "message.created", data: { role: "user", content: [] } };
    const refused = async (input: object): Promise<unknown> => (await rpc("append", { ...ref, ...input })).json["code"];
    expect(await refused({ events: [{ ...event, sequence: 2 }] })).toBe("invalid_input");
    expect(await refused({ events: [] })).toBe("invalid_input");
    expect(await refused({ messages: [] })).toBe("invalid_input");
    expect(await refused({})).toBe("invalid_input");
    expect(await refused({ events: [event], messages: [] })).toBe("invalid_input");
    expect(await refused({ events: Array.from({ length: 1001 }, () => event) })).toBe("payload_too_large");
    expect((await rpc("append", { ...ref, events: Array.from({ length: 1000 }, () => event) })).status).toBe(200);
  });

  test("a text block has at most 1 MiB, a data URI 64 KiB", async () => {
    const { rpc } = appOf(await make());
    const ref = { agent: "supportAgent", sessionId: "s" };
    await rpc("create", ref);
    const text = "é".repeat(524_288);
    const say = async (content: string): Promise<unknown> => (await rpc("append", { ...ref, messages: [{ role: "user", content }] })).json;
    expect(await say(text)).toMatchObject({ lastSequence: 2 });
    expect(await say(`${text}x`)).toMatchObject({ code: "payload_too_large", data: { details: { path: "messages[0].content" } } });
    const image = (length: number) => ({ type: "image", mimeType: "image/png", fileUri: "data:image/png;base64,".padEnd(length, "A") });
    const show = async (length: number): Promise<unknown> =>
      (await rpc("append", { ...ref, events: [{ type: "message.created", data: { role: "user", content: [image(length)] } }] })).json;
    expect(await show(65_536)).toMatchObject({ lastSequence: 3 });
    expect(await show(65_537)).toMatchObject({ code: "payload_too_large", data: { details: { path: "events[0].data.content[0].fileUri" } } });
  });

  test("what the conversation goes on without is failed, until its result comes", async () => {
    const orcha = clientOf(await make());
    const calls = [{ id: "c1", type: "function" as const, function: { name: "lookup_order", arguments: '{"orderId":"A"}' } }];
    const { session } = await orcha.supportAgent.restore([
      { role: "user", content: "Where?" },
      { role: "assistant", content: null, tool_calls: calls },
    ]);
    const { sessionId } = session;
    const status = async () => (await orcha.supportAgent.history(sessionId)).items.find((item) => item.type === "action");
    expect(await status()).toMatchObject({ status: "failed", errorCode: "result_missing", summary: "lookup order got no result." });
    await orcha.supportAgent.append(sessionId, { messages: [{ role: "tool", content: "lost", tool_call_id: "c1" }] });
    expect(await status()).toMatchObject({ status: "completed", summary: "lookup order completed." });
    expect(await status()).not.toHaveProperty("errorCode");
    const messages = await orcha.supportAgent.messages(sessionId);
    expect(messages.at(-1)).toEqual({ role: "tool", content: "lost", tool_call_id: "c1", name: "lookup_order" });
  });

  test("client actions that wait are cancelled when their run ends", async () => {
    const orcha = clientOf(await make());
    const { sessionId } = await orcha.supportAgent.create();
    const error = { code: "provider_error", message: "overloaded" };
    await orcha.supportAgent.append(sessionId, {
      events: [
        { type: "run.started", run: 1, data: {} },
        { ...asks, run: 1 },
        { type: "run.failed", run: 1, data: { error } },
      ],
    });
    const history = await orcha.supportAgent.history(sessionId);
    expect(history).toMatchObject({ runStatus: "failed", lastError: error, pendingClientActions: [] });
    expect(history.items).toMatchObject([{ status: "failed", outcome: "cancelled" }]);
  });

  test("answers fit the contract's schemas", async () => {
    const orcha = clientOf(await make());
    const { sessionId } = await orcha.supportAgent.create({ name: "n", metadata: { a: 1 } });
    await orcha.supportAgent.append(sessionId, {
      events: [
        { type: "message.created", data: { role: "user", content: [{ type: "text", text: "hi" }] } },
        { type: "skill.loaded", data: { name: "incident_triage" } },
        { type: "subagent.initiated", data: { callId: "s", agent: "researcher", sessionId: "child" } },
        {
          type: "evaluation.completed",
          data: {
            name: "response_quality",
            status: "passed",
            metrics: [{ name: "groundedness", score: 0.9, threshold: 0.8, passed: true, reasoning: "ok", evidence: ["e"] }],
          },
        },
        asks,
      ],
    });
    const history = await orcha.supportAgent.history(sessionId);
    v.assert(sessionHistorySchema, history);
    for (const item of history.items) v.assert(storedItemSchema, item);
    v.assert(sessionEventsSchema, await orcha.supportAgent.events(sessionId));
    v.assert(sessionSnapshotSchema, await orcha.supportAgent.get(sessionId));
    expect(history.items.map(({ type }) => type)).toEqual(["message", "skill", "subagent", "evaluation", "client_action"]);
  });
});
