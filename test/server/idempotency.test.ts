import { memoryStore, type Store } from "@orcha/server";
import { expect, test } from "vitest";
import { appOf, clientOf, codeOf, surroundings } from "../harness.ts";
import { describeStores } from "../stores.ts";

const hello = { role: "user" as const, content: "Hello" };

describeStores("idempotency keys", (make) => {
  test("the same call again answers the same and writes nothing", async () => {
    const time = surroundings();
    const orcha = clientOf(await make(), { surroundings: time });
    const once = { idempotencyKey: "k1" };
    const created = await orcha.supportAgent.create({ name: "n", ...once });
    time.advance(1000);
    expect(await orcha.supportAgent.create({ name: "n", ...once })).toEqual(created);

    const { sessionId } = created;
    const appended = await orcha.supportAgent.append(sessionId, { messages: [hello] }, { ifSequence: 1, ...once });
    // Looked up before the expected sequence, which no longer holds.
    expect(await orcha.supportAgent.append(sessionId, { messages: [hello] }, { ifSequence: 1, ...once })).toEqual(appended);
    await orcha.supportAgent.update(sessionId, { name: "m", ...once });
    await orcha.supportAgent.update(sessionId, { name: "m", ...once });
    await orcha.supportAgent.complete(sessionId, once);
    await orcha.supportAgent.complete(sessionId, once);
    expect((await orcha.supportAgent.events(sessionId)).total).toBe(4);

    const restored = await orcha.supportAgent.restore([hello], once);
    expect(await orcha.supportAgent.restore([hello], once)).toEqual(restored);
    expect((await orcha.supportAgent.list()).items).toHaveLength(2);
  });

  test("another input under the same key is a conflict; another operation or session is not", async () => {
    const orcha = clientOf(await make());
    const once = { idempotencyKey: "k1" };
    const { sessionId } = await orcha.supportAgent.create(once);
    await orcha.supportAgent.append(sessionId, { messages: [hello] }, once);
    expect(await codeOf(orcha.supportAgent.append(sessionId, { messages: [{ ...hello, content: "Bye" }] }, once))).toBe("idempotency_conflict");
    expect(await codeOf(orcha.supportAgent.append(sessionId, { messages: [hello] }, { ...once, ifSequence: 2 }))).toBe("idempotency_conflict");
    const other = await orcha.supportAgent.create({ sessionId: "other", ...once });
    await orcha.supportAgent.append(other.sessionId, { messages: [hello] }, once);
    expect((await orcha.supportAgent.events(sessionId)).total).toBe(2);
  });

  test("the order of keys in the input makes no difference", async () => {
    const { rpc } = appOf(await make());
    const one = await rpc("create", { agent: "supportAgent", name: "n", metadata: { a: 1, b: 2 } }, { "idempotency-key": "k" });
    const two = await rpc("create", { metadata: { b: 2, a: 1 }, name: "n", agent: "supportAgent" }, { "idempotency-key": "k" });
    expect(two.text).toBe(one.text);
  });

  test("64 of the same call at once write one event", async () => {
    const orcha = clientOf(await make());
    const { sessionId } = await orcha.supportAgent.create();
    const receipts = await Promise.all(
      Array.from({ length: 64 }, () => orcha.supportAgent.append(sessionId, { messages: [hello] }, { idempotencyKey: "k" })),
    );
    expect(new Set(receipts.map(({ firstSequence }) => firstSequence))).toEqual(new Set([2]));
    expect((await orcha.supportAgent.events(sessionId)).total).toBe(2);
  });

  test("64 different calls at once write 64 events without a hole, and one of them may expect a sequence", async () => {
    const orcha = clientOf(await make());
    const { sessionId } = await orcha.supportAgent.create();
    const expecting = await Promise.allSettled(
      Array.from({ length: 64 }, (_, index) =>
        orcha.supportAgent.append(sessionId, { messages: [{ ...hello, content: `m${index}` }] }, index % 2 === 0 ? {} : { ifSequence: 1 }),
      ),
    );
    const refused = expecting.filter(({ status }) => status === "rejected");
    const { events, total } = await orcha.supportAgent.events(sessionId, { pageSize: 100 });
    expect(total).toBe(65 - refused.length);
    expect(events.map(({ sequence }) => sequence)).toEqual(Array.from({ length: total }, (_, index) => index + 1));
    for (const { reason } of refused as PromiseRejectedResult[]) expect(reason).toMatchObject({ code: "sequence_conflict" });
  });

  test("a key is forgotten after 24 hours, and with its session", async () => {
    const time = surroundings();
    const orcha = clientOf(await make(), { surroundings: time });
    const once = { idempotencyKey: "k" };
    const first = await orcha.supportAgent.create(once);
    time.advance(86_400_001);
    const second = await orcha.supportAgent.create(once);
    expect(second.sessionId).not.toBe(first.sessionId);
    expect((await orcha.supportAgent.create(once)).sessionId).toBe(second.sessionId);
    await orcha.supportAgent.delete(second.sessionId);
    expect((await orcha.supportAgent.create(once)).sessionId).not.toBe(second.sessionId);
  });

  test("a refusal quotes no more of a history than says which value it means", async () => {
    const { rpc } = appOf(await make());
    const long = "x".repeat(100_000);
    const refusedAs = async (message: object) => (await rpc("restore", { agent: "supportAgent", messages: [message] }, { "idempotency-key": "k" })).text;
    expect(await refusedAs({ role: long, content: "" })).toContain('unknown role \\"xxx');
    expect((await refusedAs({ role: long, content: "" })).length).toBeLessThan(2000);
    expect((await refusedAs({ role: "tool", content: "", tool_call_id: long })).length).toBeLessThan(2000);
    expect((await refusedAs({ role: "user", content: "hi", [long]: 1 })).length).toBeLessThan(2000);
  });

  test("a conflict of sequences shows the session as it is", async () => {
    const orcha = clientOf(await make());
    const { sessionId } = await orcha.supportAgent.create();
    await orcha.supportAgent.update(sessionId, { name: "first" });
    const { error } = await orcha.supportAgent.append.safe(sessionId, { messages: [hello] }, { ifSequence: 1 });
    expect(error).toMatchObject({
      code: "sequence_conflict",
      retryable: false,
      details: { sequence: 2, snapshot: { sessionId, name: "first", sequence: 2 } },
    });
    expect(await codeOf(orcha.supportAgent.delete(sessionId, { ifSequence: 1 }))).toBe("sequence_conflict");
  });
});

test("a response lost on the wire: the client's retry gets the first answer, and there is one event", async () => {
  const store = memoryStore();
  const { request } = appOf(store);
  let lost = 0;
  const orcha = clientOf(store, {}, {
    retry: { attempts: 3, minDelayMs: 1, maxDelayMs: 2 },
    fetch: async (input, init) => {
      const response = await request(new Request(input, init));
      if ((lost += 1) === 2) throw new TypeError("socket hang up");
      return response;
    },
  });
  const { sessionId } = await orcha.supportAgent.create();
  const receipt = await orcha.supportAgent.append(sessionId, { messages: [hello] }, { ifSequence: 1 });
  expect(receipt).toMatchObject({ firstSequence: 2, lastSequence: 2 });
  expect(lost).toBe(3);
  expect((await orcha.supportAgent.events(sessionId)).total).toBe(2);
});

test("too many writes that wait for one session are refused at once", async () => {
  const store = memoryStore();
  let release = (): void => {};
  const held = new Promise<void>((resolve) => {
    release = resolve;
  });
  const slow: Store = {
    ...store,
    append: async (ref, lookups, decide) => {
      await held;
      return store.append(ref, lookups, decide);
    },
  };
  const orcha = clientOf(slow, { onError: () => {} }, { retry: false });
  const { sessionId } = await orcha.supportAgent.create();
  const writes = Array.from({ length: 300 }, () => codeOf(orcha.supportAgent.append(sessionId, { messages: [hello] })));
  await expect.poll(async () => Promise.race([...writes, Promise.resolve("none")])).toBe("too_busy");
  release();
  const codes = await Promise.all(writes);
  expect(codes.filter((code) => code === "too_busy")).toHaveLength(44);
  expect((await orcha.supportAgent.events(sessionId)).total).toBe(257);
});
