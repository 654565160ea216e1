import type { EventInput, SessionHistory } from "@orcha/client";
import { describe, expect, test } from "vitest";
import { clientOf, serverOf, type TestClient } from "../harness.ts";
import { describeStores } from "../stores.ts";

function says(text: string): EventInput {
  return { type: "message.created", data: { role: "user", content: [{ type: "text", text }] } };
}

async function sessionOf(orcha: TestClient, count: number): Promise<string> {
  const { sessionId } = await orcha.supportAgent.create();
  const events = Array.from({ length: count }, (_, index) => says(`m${index + 1}`));
  if (count > 0) await orcha.supportAgent.append(sessionId, { events });
  return sessionId;
}

function texts(history: Pick<SessionHistory, "items">): string[] {
  return history.items.map((item) => (item.type === "message" && item.content[0]?.type === "text" ? item.content[0].text : item.id));
}

function range(from: number, to: number): string[] {
  return Array.from({ length: Math.max(0, to - from + 1) }, (_, index) => `m${from + index}`);
}

describeStores("history pages", (make) => {
  test.each([0, 1, 49, 50, 51, 100, 101])("%i items", async (count) => {
    const orcha = clientOf(await make());
    const sessionId = await sessionOf(orcha, count);
    const first = await orcha.supportAgent.history(sessionId);
    expect(first).toMatchObject({ page: 1, pageSize: 50, total: count, hasMore: count > 50, throughSequence: count + 1 });
    expect(texts(first)).toEqual(range(Math.max(1, count - 49), count));

    const seen: string[][] = [];
    for await (const page of orcha.supportAgent.pages(sessionId)) seen.unshift(texts(page));
    expect(seen.flat()).toEqual(range(1, count));
    expect(seen.slice(1).every((page) => page.length === 50)).toBe(true);
  });

  test("past the end is an empty page, not an error", async () => {
    const orcha = clientOf(await make());
    const sessionId = await sessionOf(orcha, 51);
    for (const page of [3, 1000, Number.MAX_SAFE_INTEGER, 1e19, 1e300]) {
      const history = await orcha.supportAgent.history(sessionId, { page });
      expect(history).toMatchObject({ items: [], page, total: 51, hasMore: false });
      const pinned = await orcha.supportAgent.history(sessionId, { page, throughSequence: 2 });
      expect(pinned).toMatchObject({ items: [], page, total: 1, hasMore: false });
      const log = await orcha.supportAgent.events(sessionId, { page });
      expect(log).toMatchObject({ events: [], page, total: 52, hasMore: false });
    }
  });

  test("a view of any time to come is refused by its name", async () => {
    const orcha = clientOf(await make());
    const sessionId = await sessionOf(orcha, 1);
    for (const throughSequence of [3, Number.MAX_SAFE_INTEGER, 1e19, 1e300]) {
      for (const read of [orcha.supportAgent.history, orcha.supportAgent.events, orcha.supportAgent.fork]) {
        const { error } = await read.safe(sessionId, { throughSequence });
        expect(error).toMatchObject({ code: "invalid_input", details: { path: "throughSequence" } });
      }
    }
  });

  test.each([
    ["page", 0],
    ["page", -1],
    ["page", 1.5],
    ["page", Number.NaN],
    ["page", Number.POSITIVE_INFINITY],
    ["page", "10"],
    ["page", null],
    ["pageSize", 0],
    ["pageSize", 101],
    ["pageSize", 1.5],
    ["pageSize", Number.NaN],
    ["pageSize", "10"],
    ["throughSequence", 0],
    ["throughSequence", -3],
    ["throughSequence", 2.5],
    ["throughSequence", 6],
    ["throughSequence", "2"],
  ])("%s: %s is invalid_input that names the field", async (field, value) => {
    const orcha = clientOf(await make());
    const sessionId = await sessionOf(orcha, 4);
    for (const call of [orcha.supportAgent.history, orcha.supportAgent.events]) {
      const { error } = await call.safe(sessionId, { [field]: value });
      expect(error).toMatchObject({ code: "invalid_input", retryable: false, details: { path: field } });
    }
  });

  test("page 2 while others append: unpinned pages move towards repeats, pinned ones stand", async () => {
    const orcha = clientOf(await make());
    const sessionId = await sessionOf(orcha, 30);
    const page1 = await orcha.supportAgent.history(sessionId, { page: 1, pageSize: 10 });
    await orcha.supportAgent.append(sessionId, { events: [says("m31"), says("m32"), says("m33")] });

    const unpinned = await orcha.supportAgent.history(sessionId, { page: 2, pageSize: 10 });
    expect(texts(unpinned)).toEqual(range(14, 23));
    expect(unpinned.total).toBe(33);

    const { throughSequence } = page1;
    const pinned = await orcha.supportAgent.history(sessionId, { page: 2, pageSize: 10, throughSequence });
    expect(texts(pinned)).toEqual(range(11, 20));
    expect(pinned).toMatchObject({ total: 30, hasMore: true, throughSequence });
    expect(pinned.sequence).toBeGreaterThan(pinned.throughSequence);
  });

  test("an approval resolved after page 1 still waits, with its arguments, on the pinned page", async () => {
    const orcha = clientOf(await make());
    const sessionId = await sessionOf(orcha, 3);
    const call = { callId: "call_123", name: "request_human_approval", arguments: { amount: 750, currency: "USD" } };
    await orcha.supportAgent.append(sessionId, { events: [{ type: "client_action.requested", data: { calls: [call] } }] });
    const before = await orcha.supportAgent.history(sessionId);
    await orcha.supportAgent.resume(sessionId, { toolResults: [{ callId: "call_123", output: { approved: true } }] }).result;

    const now = await orcha.supportAgent.history(sessionId);
    expect(now.items.at(-1)).toMatchObject({ status: "completed", outcome: "answered" });
    expect(now.items.at(-1)).not.toHaveProperty("arguments");
    expect(now.pendingClientActions).toEqual([]);

    const pinned = await orcha.supportAgent.history(sessionId, { throughSequence: before.throughSequence });
    expect(pinned.items).toEqual(before.items);
    expect(pinned.items.at(-1)).toMatchObject({ status: "waiting", arguments: { amount: 750, currency: "USD" } });
    // Snapshot fields are those of the request.
    expect(pinned.pendingClientActions).toEqual([]);
  });

  test("unknown session, another agent's session and another id give the same words", async () => {
    const orcha = clientOf(await make());
    const { sessionId } = await orcha.supportAgent.create({ sessionId: "shared_name" });
    const foreign = await orcha.researcher.history.safe(sessionId);
    const unknown = await orcha.researcher.history.safe("shared_name");
    expect(foreign.error).toMatchObject({ code: "session_not_found" });
    expect(foreign.error?.message).toBe(unknown.error?.message);
  });

  test("the order of checks: input before session", async () => {
    const orcha = clientOf(await make());
    const { error } = await orcha.supportAgent.history.safe("ses_nowhere", { page: 0 });
    expect(error?.code).toBe("invalid_input");
    const messages = "hello" as unknown as [];
    expect((await orcha.supportAgent.append.safe("ses_nowhere", { messages })).error?.code).toBe("history_invalid");
  });

  test("events page by sequence", async () => {
    const orcha = clientOf(await make());
    const sessionId = await sessionOf(orcha, 5);
    const page = await orcha.supportAgent.events(sessionId, { page: 2, pageSize: 4 });
    expect(page.events.map((event) => event.sequence)).toEqual([1, 2]);
    expect(page).toMatchObject({ total: 6, hasMore: false, throughSequence: 6 });
    const pinned = await orcha.supportAgent.events(sessionId, { pageSize: 2, throughSequence: 3 });
    expect(pinned.events.map((event) => event.sequence)).toEqual([2, 3]);
    expect(pinned).toMatchObject({ total: 3, hasMore: true, sequence: 6 });
  });
});

describe("over a real socket", () => {
  test("a reader turns pages while a writer appends, and sees each item once", async () => {
    const { memoryStore } = await import("@orcha/server");
    const { orcha } = await serverOf(memoryStore());
    const sessionId = await sessionOf(orcha, 101);
    const writing = (async () => {
      for (let index = 0; index < 20; index += 1) await orcha.supportAgent.append(sessionId, { events: [says(`late${index}`)] });
    })();
    const seen: string[] = [];
    for await (const page of orcha.supportAgent.pages(sessionId, { pageSize: 10 })) seen.unshift(...texts(page));
    await writing;
    expect(seen.slice(0, 101)).toEqual(range(1, 101));
    expect(new Set(seen).size).toBe(seen.length);
  });
});
