import { advance, eventVersion, lookupKey, type SessionEvent } from "@orcha/contract";
import type { Current, Receipt, SessionRef, SessionWrite, Store, WriteCondition } from "@orcha/server";
import { expect, test } from "vitest";
import { describeStores } from "../stores.ts";

const ref: SessionRef = { tenant: "acme", agent: "supportAgent", sessionId: "ses_1" };
const timestamp = "2026-09-28T12:00:00.000Z";

type Draft = Pick<SessionEvent, "type" | "data">;

const created: Draft = {
  type: "session.created",
  data: { schemaVersion: 1, sessionId: ref.sessionId, agent: ref.agent, status: "active", metadata: {}, variables: {} },
};
const requested: Draft = { type: "action.requested", data: { callId: "c", name: "look", arguments: {} } };
const completed: Draft = { type: "action.completed", data: { callId: "c", name: "look", output: 1 } };

/** What a writer would make of drafts: the pure part of a write. */
function writeOf(drafts: readonly Draft[], current?: Current, receipt?: Receipt): SessionWrite {
  const first = (current?.view.snapshot.sequence ?? 0) + 1;
  const events = drafts.map((draft, index) => ({ sequence: first + index, v: eventVersion, timestamp, ...draft }) as SessionEvent);
  const { view, versions, itemCounts } = advance(current?.view, current?.touched ?? new Map(), events);
  return {
    view,
    events: events.map((event, index) => ({ sequence: event.sequence, itemCount: itemCounts[index] ?? 0, body: JSON.stringify(event) })),
    versions: versions.map(({ item, ...version }) => ({
      ...version,
      lookups: item.type === "action" ? [lookupKey("action", item.callId)] : [],
      body: JSON.stringify(item),
    })),
    ...(receipt ? { receipt } : {}),
  };
}

function append(store: Store, ...drafts: Draft[]) {
  return store.append(ref, [lookupKey("action", "c")], (current) => ({ write: writeOf(drafts, current), result: current.view.snapshot.sequence }));
}

const receipt: Receipt = { operation: "append", sessionId: ref.sessionId, key: "k", digest: "d", outcome: "{}", createdAt: 1_000_000_000_000 };

describeStores("a store", (make) => {
  test("answers nothing for a session under another tenant, agent or id", async () => {
    const store = await make();
    await store.create(ref, writeOf([created]));
    for (const other of [{ ...ref, tenant: "rival" }, { ...ref, agent: "researcher" }, { ...ref, sessionId: "ses_2" }]) {
      expect(await store.snapshot(other)).toBeUndefined();
      expect(await store.read(other, [])).toBeUndefined();
      expect(await store.historyPage(other, { page: 1, pageSize: 5 })).toBeUndefined();
      expect(await store.eventPage(other, { page: 1, pageSize: 5 })).toBeUndefined();
      expect(await store.events(other, 1, 9)).toBeUndefined();
      expect(await store.append(other, [], () => ({ result: 1 }))).toBeUndefined();
      expect(await store.delete(other, 1)).toBe(false);
    }
    expect(await store.list({ tenant: "rival", agent: ref.agent, limit: 9 })).toEqual([]);
  });

  test("leaves everything as it was where a writer throws, or writes nothing", async () => {
    const store = await make();
    await store.create(ref, writeOf([created, requested]));
    const before = await store.historyPage(ref, { page: 1, pageSize: 9 });
    const refusing = store.append(ref, [], () => {
      throw new RangeError("no");
    });
    await expect(refusing).rejects.toThrow("no");
    expect(await store.append(ref, [], () => ({ result: "nothing" }))).toEqual({ result: "nothing" });
    expect(await store.historyPage(ref, { page: 1, pageSize: 9 })).toEqual(before);
    expect(await append(store, completed)).toEqual({ result: 2 });
  });

  test("shows a writer the open items, and the newest of each key", async () => {
    const store = await make();
    await store.create(ref, writeOf([created, requested]));
    const open = await store.read(ref, []);
    expect([...(open?.touched.entries() ?? [])]).toMatchObject([["action:c", [{ position: 0, sequence: 2, item: { status: "running" } }]]]);
    await append(store, completed);
    expect((await store.read(ref, []))?.touched.size).toBe(0);
    await append(store, requested, completed);
    const newest = await store.read(ref, ["action:c", "action:unknown"]);
    expect([...(newest?.touched.values() ?? [])]).toMatchObject([[{ position: 1, sequence: 5, item: { id: "action:c#4", status: "completed" } }]]);
  });

  test("keeps each version of an item, also those of one batch", async () => {
    const store = await make();
    await store.create(ref, writeOf([created, requested, completed]));
    await append(store, requested);
    await append(store, completed);
    const statuses = async (throughSequence?: number) => {
      const page = await store.historyPage(ref, { page: 1, pageSize: 9, ...(throughSequence ? { throughSequence } : {}) });
      return page?.bodies.map((body) => (JSON.parse(body) as { status: string }).status);
    };
    expect(await statuses(1)).toEqual([]);
    expect(await statuses(2)).toEqual(["running"]);
    expect(await statuses(3)).toEqual(["completed"]);
    expect(await statuses(4)).toEqual(["completed", "running"]);
    expect(await statuses()).toEqual(["completed", "completed"]);
    expect([await store.itemMadeBy(ref, 0), await store.itemMadeBy(ref, 1)]).toEqual([2, 4]);
    await expect(store.historyPage(ref, { page: 1, pageSize: 9, throughSequence: 6 })).rejects.toMatchObject({ code: "invalid_input" });
  });

  test("keeps a receipt with its write, or neither", async () => {
    const store = await make();
    await store.create(ref, writeOf([created]));
    const write = () => store.append(ref, [], (current) => ({ write: writeOf([requested], current, receipt), result: 0 }));
    await write();
    await expect(write()).rejects.toMatchObject({ name: "ReceiptExists" });
    expect((await store.eventPage(ref, { page: 1, pageSize: 9 }))?.total).toBe(2);
    expect(await store.findReceipt(ref, receipt, receipt.createdAt)).toEqual(receipt);
    expect(await store.findReceipt(ref, receipt, receipt.createdAt + 1)).toBeUndefined();
    for (const other of [{ ...receipt, key: "K" }, { ...receipt, operation: "update" }, { ...receipt, sessionId: "" }]) {
      expect(await store.findReceipt(ref, other, 0)).toBeUndefined();
    }
    expect(await store.findReceipt({ ...ref, tenant: "rival" }, receipt, 0)).toBeUndefined();
  });

  test("deletes for good, receipts included, and remembers the id", async () => {
    const store = await make();
    await store.create(ref, writeOf([created]));
    await store.append(ref, [], (current) => ({ write: writeOf([requested], current, receipt), result: 0 }));
    expect(await store.delete(ref, 1)).toBe(true);
    expect(await store.delete(ref, 2)).toBe(true);
    expect(await store.snapshot(ref)).toBeUndefined();
    expect(await store.findReceipt(ref, receipt, 0)).toBeUndefined();
    await expect(store.create(ref, writeOf([created]))).rejects.toMatchObject({ code: "session_exists" });
    await store.create({ ...ref, tenant: "rival" }, writeOf([created]));
  });

  test("reads ranges of events, both ends included", async () => {
    const store = await make();
    await store.create(ref, writeOf([created, requested, completed]));
    const sequences = async (from: number, to: number, maxBytes?: number) => (await store.events(ref, from, to, maxBytes))?.map((body) => (JSON.parse(body) as SessionEvent).sequence);
    expect(await sequences(1, 3)).toEqual([1, 2, 3]);
    expect(await sequences(2, 2)).toEqual([2]);
    expect(await sequences(4, 9)).toEqual([]);
    const [first = "", second = ""] = (await store.events(ref, 1, 3)) ?? [];
    expect(await sequences(1, 3, 1)).toEqual([1]);
    expect(await sequences(1, 3, first.length)).toEqual([1]);
    expect(await sequences(1, 3, first.length + 1)).toEqual([1, 2]);
    expect(await sequences(1, 3, first.length + second.length + 1)).toEqual([1, 2, 3]);
    expect(await sequences(2, 3, 1)).toEqual([2]);
    expect(await sequences(4, 9, 1)).toEqual([]);
  });

  test("holds a write to its condition", async () => {
    const store = await make();
    await store.create(ref, writeOf([created]));
    const write = (condition: WriteCondition) =>
      store.append(ref, [], (current) => ({ write: writeOf([requested], current), result: current.view.snapshot.sequence }), condition);
    await expect(write({ expectedSequence: 2 })).rejects.toMatchObject({ code: "sequence_conflict", details: { sequence: 1 } });
    expect(await write({ expectedSequence: 1 })).toEqual({ result: 1 });
    await expect(write({ fence: 1 })).rejects.toMatchObject({ code: "session_busy" });
    await expect(store.delete(ref, 1, { expectedSequence: 1 })).rejects.toMatchObject({ code: "sequence_conflict" });
    expect((await store.eventPage(ref, { page: 1, pageSize: 9 }))?.total).toBe(2);
    expect(await store.delete(ref, 1, { expectedSequence: 2 })).toBe(true);
  });

  test("lends a session to one run at a time, and fences off the one before", async () => {
    const store = await make();
    await store.create(ref, writeOf([created]));
    const one = { owner: "one", until: 2000, now: 1000 };
    const two = { owner: "two", until: 3000, now: 1500 };
    expect(await store.takeLease(ref, one)).toEqual({ owner: "one", until: 2000, fence: 1 });
    await expect(store.takeLease(ref, two)).rejects.toMatchObject({ code: "session_busy", retryable: true });
    expect(await store.takeLease(ref, { ...one, until: 2500, now: 1900 })).toEqual({ owner: "one", until: 2500, fence: 1 });
    expect(await store.takeLease(ref, { ...two, now: 2500 })).toEqual({ owner: "two", until: 3000, fence: 2 });
    const write = (fence: number) => store.append(ref, [], (current) => ({ write: writeOf([requested], current), result: current.lease }), { fence });
    await expect(write(1)).rejects.toMatchObject({ code: "session_busy" });
    expect(await write(2)).toEqual({ result: { owner: "two", until: 3000, fence: 2 } });
    await store.releaseLease(ref, 1);
    await expect(store.takeLease(ref, { ...one, until: 9000, now: 2600 })).rejects.toMatchObject({ code: "session_busy" });
    await store.releaseLease(ref, 2);
    expect(await store.takeLease(ref, { ...one, until: 9000, now: 2600 })).toEqual({ owner: "one", until: 9000, fence: 3 });
    expect(await store.takeLease({ ...ref, sessionId: "ses_2" }, one)).toBeUndefined();
  });

  test("renews a lease only while it lasts", async () => {
    const store = await make();
    const lease = { owner: "one", until: 2000, fence: 1 };
    await store.create(ref, { ...writeOf([created]), lease });
    const renewal = { owner: "one", until: 3000, now: 1500, renews: 1 };
    expect(await store.takeLease(ref, renewal)).toEqual({ owner: "one", until: 3000, fence: 1 });
    await expect(store.takeLease(ref, { ...renewal, now: 3000, until: 4000 })).rejects.toMatchObject({ code: "session_busy" });
    await store.releaseLease(ref, 1);
    await expect(store.takeLease(ref, renewal)).rejects.toMatchObject({ code: "session_busy" });
    expect((await store.read(ref, []))?.lease).toEqual({ owner: "one", until: 0, fence: 1 });
    expect(await store.takeLease(ref, { owner: "two", until: 3000, now: 1500 })).toEqual({ owner: "two", until: 3000, fence: 2 });
    await expect(store.takeLease(ref, renewal)).rejects.toMatchObject({ code: "session_busy" });
  });

  test("takes, keeps and lets go of a lease in the write that needs it", async () => {
    const store = await make();
    const lease = { owner: "one", until: 2000, fence: 1 };
    await store.create(ref, { ...writeOf([created]), lease });
    const write = (fence: number, next?: typeof lease) =>
      store.append(
        ref,
        [],
        (current) => ({ write: { ...writeOf([requested], current), ...(next ? { lease: next } : {}) }, result: current.lease }),
        { fence },
      );
    expect(await write(1)).toEqual({ result: lease });
    await expect(store.takeLease(ref, { owner: "two", until: 3000, now: 1500 })).rejects.toMatchObject({ code: "session_busy" });
    expect(await write(1, { ...lease, until: 0 })).toEqual({ result: lease });
    expect(await store.takeLease(ref, { owner: "two", until: 3000, now: 1500 })).toEqual({ owner: "two", until: 3000, fence: 2 });
    await expect(write(1)).rejects.toMatchObject({ code: "session_busy" });
    expect(await write(2, { owner: "three", until: 4000, fence: 3 })).toEqual({ result: { owner: "two", until: 3000, fence: 2 } });
    await expect(write(2)).rejects.toMatchObject({ code: "session_busy" });
  });

  test("keeps the answer in the making for the run that has the lease", async () => {
    const store = await make();
    await store.create(ref, { ...writeOf([created]), lease: { owner: "one", until: 2000, fence: 1 } });
    expect(await store.draft(ref)).toBeUndefined();
    expect(await store.saveDraft(ref, { fence: 1, body: '{"text":"Hel"}' })).toBe(true);
    expect(await store.saveDraft(ref, { fence: 1, body: '{"text":"Hello"}' })).toBe(true);
    expect(await store.draft(ref)).toEqual({ fence: 1, body: '{"text":"Hello"}' });
    await store.takeLease(ref, { owner: "two", until: 5000, now: 3000 });
    expect(await store.saveDraft(ref, { fence: 1, body: '{"text":"Hello w"}' })).toBe(false);
    expect(await store.draft(ref)).toBeUndefined();
    expect(await store.saveDraft(ref, { fence: 2, body: '{"text":"Hi"}' })).toBe(true);
    await store.append(ref, [], (current) => ({ write: { ...writeOf([requested], current), endsDraft: true }, result: 0 }));
    expect(await store.draft(ref)).toBeUndefined();
    const elsewhere = { ...ref, tenant: "rival" };
    expect([await store.saveDraft(elsewhere, { fence: 1, body: "{}" }), await store.draft(elsewhere)]).toEqual([false, undefined]);
    await store.delete(ref, 1);
    expect(await store.draft(ref)).toBeUndefined();
  });

  test("finds what is due: leases that ran out and client actions that expired, of the given agents", async () => {
    const store = await make();
    const asked: Draft = {
      type: "client_action.requested",
      data: { calls: [{ callId: "a", name: "ask", expiresAt: "2026-09-28T12:00:10.000Z" }, { callId: "b", name: "ask" }] },
    };
    const at = Date.parse("2026-09-28T12:00:10.000Z");
    // A tenant whose index entry is a digest on Postgres.
    const odd: SessionRef = { ...ref, tenant: "#1", sessionId: "ses_2" };
    await store.create(ref, { ...writeOf([created]), lease: { owner: "one", until: at - 1000, fence: 1 } });
    await store.create(odd, writeOf([created, asked]));
    await store.create({ ...ref, agent: "researcher" }, { ...writeOf([created]), lease: { owner: "one", until: 1, fence: 1 } });
    const due = async (now: number, limit = 9) => {
      const query = { agents: [ref.agent], now, limit };
      return [...(await store.due({ ...query, what: "abandoned" })), ...(await store.due({ ...query, what: "expired" }))];
    };
    expect(await due(at - 1001)).toEqual([]);
    expect(await due(at - 1000)).toEqual([ref]);
    expect(await due(at)).toEqual([ref, odd]);
    expect(await due(at, 0)).toEqual([]);
    await store.releaseLease(ref, 1);
    expect(await due(at)).toEqual([odd]);
    await store.append(odd, [lookupKey("client-action", "a")], (current) => {
      const resolved: Draft = { type: "client_action.resolved", data: { results: [{ callId: "a", output: 1 }] } };
      return { write: writeOf([resolved], current), result: undefined };
    });
    expect(await due(at)).toEqual([]);
  });

  test("tells which items events added or changed", async () => {
    const store = await make();
    const said: Draft = { type: "message.created", data: { role: "user", content: [{ type: "text", text: "Hi" }] } };
    await store.create(ref, writeOf([created, requested, said]));
    await append(store, completed, said);
    await append(store, requested, said);
    const changed = async (after: number, through: number, lookups = [lookupKey("action", "c")]) => {
      const found = await store.changed(ref, { after, through, lookups });
      return found?.items.map(({ position, body }) => `${position} ${(JSON.parse(body) as { id: string; status?: string }).id}`);
    };
    expect(await changed(0, 3)).toEqual(["0 action:c", "1 message:3"]);
    // The action of before is completed by event 4, and its id is used again by event 6.
    expect(await changed(3, 5)).toEqual(["0 action:c", "2 message:5"]);
    expect(await changed(3, 5, [])).toEqual(["2 message:5"]);
    expect(await changed(5, 7)).toEqual(["3 action:c#6", "4 message:7"]);
    expect(await changed(7, 7)).toEqual([]);
    expect(JSON.parse((await store.changed(ref, { after: 0, through: 1, lookups: [] }))?.snapshot ?? "")).toMatchObject({ sequence: 7 });
    expect(await store.changed({ ...ref, tenant: "rival" }, { after: 0, through: 1, lookups: [] })).toBeUndefined();
  });

  test("tells listeners of what changes, until they leave", async () => {
    const store = await make();
    const heard: (SessionRef | undefined)[] = [];
    const leave = store.listen((changed) => heard.push(changed));
    await store.create(ref, writeOf([created]));
    await append(store, requested);
    await store.append(ref, [], () => ({ result: 1 }));
    await store.delete(ref, 1);
    expect(heard.filter((changed) => changed !== undefined)).toContainEqual(ref);
    const count = heard.length;
    expect(count).toBeGreaterThanOrEqual(3);
    leave();
    await store.create({ ...ref, sessionId: "ses_2" }, writeOf([created]));
    expect(heard.length).toBe(count);
  });

  test("deletes delegated children with their parent, of its tenant and agent alone", async () => {
    const store = await make();
    const child = (sessionId: string, parentSessionId: string, tenant = ref.tenant) =>
      store.create({ tenant, agent: "researcher", sessionId }, writeOf([delegated(sessionId, parentSessionId)]));
    await store.create(ref, writeOf([created]));
    await store.create({ ...ref, tenant: "rival" }, writeOf([created]));
    await child("child_1", ref.sessionId);
    await child("child_2", "ses_other");
    await child("child_1", ref.sessionId, "rival");
    expect(await store.list({ tenant: ref.tenant, agent: "researcher", limit: 9 })).toEqual([]);
    expect(await store.list({ tenant: ref.tenant, agent: "researcher", metadata: { kept: true }, limit: 9 })).toEqual([]);
    await store.delete(ref, 1);
    const alive = async (sessionId: string, tenant = ref.tenant) => (await store.snapshot({ tenant, agent: "researcher", sessionId })) !== undefined;
    expect([await alive("child_1"), await alive("child_2"), await alive("child_1", "rival")]).toEqual([false, true, true]);
    await expect(child("child_1", ref.sessionId)).rejects.toMatchObject({ code: "session_exists" });
  });

  test("keeps the receipt of a refusal, with its session or without one", async () => {
    const store = await make();
    await store.keepReceipt(ref, receipt);
    expect(await store.findReceipt(ref, receipt, 0)).toEqual(receipt);
    await expect(store.keepReceipt(ref, receipt)).rejects.toMatchObject({ name: "ReceiptExists" });
    await store.keepReceipt(ref, { ...receipt, createdAt: receipt.createdAt + 86_400_001, digest: "e" });
    expect(await store.findReceipt(ref, receipt, 0)).toMatchObject({ digest: "e" });
    await store.create(ref, writeOf([created]));
    await store.keepReceipt(ref, { ...receipt, key: "of the session" });
    await store.delete(ref, 1);
    expect(await store.findReceipt(ref, { ...receipt, key: "of the session" }, 0)).toBeUndefined();
  });
});

/** The first event of a session that another one delegated to. */
function delegated(sessionId: string, parentSessionId: string): Draft {
  const lineage = { origin: "delegated" as const, parentAgent: ref.agent, parentSessionId, parentCallId: "call_1" };
  return {
    type: "session.created",
    data: { schemaVersion: 1, sessionId, agent: "researcher", status: "active", metadata: { kept: true }, variables: {}, lineage },
  };
}
