import { createOrcha, type SessionHistory, type TailFrame } from "@orcha/client";
import { expect, test } from "vitest";
import type { agents } from "../runs/agents.ts";
import { clientOf, codeOf, type TestClient } from "../harness.ts";
import { bedOf, variables } from "../runs/bed.ts";
import { toldNow } from "../runs/told-now.ts";
import { describeStores } from "../stores.ts";

type Frame = TailFrame;

/** Reads frames until one is the last that a test wants. */
async function until(frames: AsyncIterable<Frame>, isLast: (frame: Frame) => boolean): Promise<Frame[]> {
  const read: Frame[] = [];
  for await (const frame of frames) {
    read.push(frame);
    if (isLast(frame)) break;
  }
  return read;
}

const isReady = ({ type }: Frame): boolean => type === "ready";
const say = (text: string) => ({ messages: [{ role: "user" as const, content: text }] });
const textOf = (frame: Frame): string => {
  const block = frame.type === "item" && frame.item.type === "message" ? frame.item.content[0] : undefined;
  return block?.type === "text" ? block.text : "";
};

async function opened(orcha: TestClient): Promise<SessionHistory> {
  const { session } = await orcha.supportAgent.restore([{ role: "user", content: "one" }, { role: "assistant", content: "two" }]);
  return orcha.supportAgent.history(session.sessionId);
}

describeStores("a tail", (make) => {
  test("goes on where a page ends: nothing twice, nothing missing", async () => {
    const orcha = clientOf(await make());
    const { sessionId, throughSequence, total } = await opened(orcha);
    await orcha.supportAgent.append(sessionId, say("three"));
    const frames = orcha.supportAgent.tail(sessionId, { after: throughSequence })[Symbol.asyncIterator]();
    const next = async () => (await frames.next()).value as Frame;
    expect(await next()).toMatchObject({ type: "item", position: total, item: { content: [{ text: "three" }] } });
    expect(await next()).toMatchObject({ type: "snapshot", snapshot: { sequence: throughSequence + 1 } });
    expect(await next()).toEqual({ type: "ready", sequence: throughSequence + 1 });
    await orcha.supportAgent.append(sessionId, say("four"));
    expect(await next()).toMatchObject({ type: "item", position: total + 1 });
    await frames.return?.(undefined);
  });

  test("tells of much at once in steps that fit into memory", async () => {
    const orcha = clientOf(await make());
    const { sessionId, throughSequence } = await opened(orcha);
    const content = "x".repeat(1_000_000);
    for (let count = 0; count < 4; count += 1) await orcha.supportAgent.append(sessionId, { messages: [1, 2, 3].map(() => ({ role: "user" as const, content })) });
    const frames = await until(orcha.supportAgent.tail(sessionId, { after: throughSequence }), isReady);
    expect(frames.map(({ type }) => type)).toEqual([...Array.from({ length: 2 }, () => [...Array.from({ length: 5 }, () => "item"), "snapshot"]).flat(), "item", "item", "snapshot", "ready"]);
    expect(frames.flatMap((frame) => (frame.type === "item" ? [frame.position] : []))).toEqual(Array.from({ length: 12 }, (_, index) => index + 2));
  });

  test("tells of many earlier items that changed in steps, each once", async () => {
    const orcha = clientOf(await make());
    const { sessionId } = await opened(orcha);
    const calls = Array.from({ length: 120 }, (_, index) => ({ callId: `call_${index}`, name: "lookup_order" }));
    const { lastSequence } = await orcha.supportAgent.append(sessionId, { events: calls.map((call) => ({ type: "action.requested", data: { ...call, arguments: { orderId: call.callId } } })) });
    await orcha.supportAgent.append(sessionId, { events: calls.map((call) => ({ type: "action.completed", data: { ...call, output: { status: "lost" }, durationMs: 1 } })) });
    const frames = await until(orcha.supportAgent.tail(sessionId, { after: lastSequence }), isReady);
    expect(frames.flatMap((frame) => (frame.type === "item" && frame.item.type === "action" ? [frame.item.callId] : []))).toEqual(calls.map(({ callId }) => callId));
    expect(frames.filter(({ type }) => type === "snapshot")).toHaveLength(3);
  });

  test("without `after` tells of what comes", async () => {
    const orcha = clientOf(await make());
    const { sessionId, throughSequence } = await opened(orcha);
    const frames = orcha.supportAgent.tail(sessionId)[Symbol.asyncIterator]();
    expect((await frames.next()).value).toEqual({ type: "ready", sequence: throughSequence });
    await orcha.supportAgent.update(sessionId, { name: "Named" });
    expect((await frames.next()).value).toMatchObject({ type: "snapshot", snapshot: { name: "Named" } });
    await frames.return?.(undefined);
  });

  test("comes back at once, and is told what happened while it was away", async () => {
    const orcha = clientOf(await make());
    const { sessionId, throughSequence } = await opened(orcha);
    for (let time = 0; time < 5; time += 1) {
      const after = throughSequence + time;
      expect((await until(orcha.supportAgent.tail(sessionId, { after }), isReady)).at(-1)).toEqual({ type: "ready", sequence: after });
      await orcha.supportAgent.append(sessionId, say(String(time)));
      const start = Date.now();
      const frames = await until(orcha.supportAgent.tail(sessionId, { after }), isReady);
      expect(frames.map(textOf)[0]).toBe(String(time));
      // Not at the next look, five seconds later.
      expect(Date.now() - start).toBeLessThan(4000);
    }
  });

  test("tells of an item that changed, in its place", async () => {
    const orcha = clientOf(await make());
    const { sessionId } = await opened(orcha);
    const call = { callId: "c", name: "request_human_approval", arguments: { amount: 1, currency: "USD" } };
    await orcha.supportAgent.append(sessionId, { events: [{ type: "client_action.requested", data: { calls: [call] } }] });
    const { throughSequence } = await orcha.supportAgent.history(sessionId);
    await orcha.supportAgent.append(sessionId, say("five"));
    await orcha.supportAgent.resume(sessionId, { toolResults: [{ callId: "c", output: { approved: true } }] }).result;
    const frames = await until(orcha.supportAgent.tail(sessionId, { after: throughSequence }), isReady);
    expect(frames.flatMap((frame) => (frame.type === "item" ? [[frame.position, frame.item.id]] : []))).toEqual([
      [2, "client-action:c"],
      [3, `message:${throughSequence + 1}`],
    ]);
    expect(frames[0]).toMatchObject({ item: { outcome: "answered", status: "completed" } });
  });

  test("tells a long log in pieces, in order", async () => {
    const orcha = clientOf(await make());
    const { sessionId } = await opened(orcha);
    const events = Array.from({ length: 600 }, (_, index) => ({ type: "message.created" as const, data: { role: "user" as const, content: [{ type: "text" as const, text: String(index) }] } }));
    for (const part of [events.slice(0, 300), events.slice(300)]) await orcha.supportAgent.append(sessionId, { events: part });
    const frames = await until(orcha.supportAgent.tail(sessionId, { after: 0 }), isReady);
    const positions = frames.flatMap((frame) => (frame.type === "item" ? [frame.position] : []));
    expect(positions).toEqual(Array.from({ length: 602 }, (_, index) => index));
    expect(frames.filter(({ type }) => type === "snapshot")).toHaveLength(2);
    expect(frames.map(textOf).filter((text) => text !== "")).toEqual(["one", "two", ...events.map((_, index) => String(index))]);
  });

  test("ends where the session is completed or deleted, and says which", async () => {
    const orcha = clientOf(await make());
    for (const [end, reason] of [["complete", "completed"], ["delete", "deleted"]] as const) {
      const { sessionId } = await opened(orcha);
      let ended: Promise<unknown> | undefined;
      const frames = await until(orcha.supportAgent.tail(sessionId), (frame) => {
        if (isReady(frame)) ended ??= orcha.supportAgent[end](sessionId);
        return false;
      });
      await ended;
      expect(frames.at(-1)).toEqual({ type: "end", reason });
    }
  });

  test("of a session that is completed tells what there is, and ends", async () => {
    const orcha = clientOf(await make());
    const { sessionId } = await opened(orcha);
    await orcha.supportAgent.complete(sessionId);
    const frames = await until(orcha.supportAgent.tail(sessionId, { after: 1 }), () => false);
    expect(frames.map(({ type }) => type)).toEqual(["item", "item", "item", "snapshot", "ready", "end"]);
  });

  test("is refused before it opens: unknown sessions, other agents', and positions of the future", async () => {
    const orcha = clientOf(await make());
    const { sessionId } = await opened(orcha);
    const first = (frames: AsyncIterable<Frame>) => frames[Symbol.asyncIterator]().next();
    expect(await codeOf(first(orcha.supportAgent.tail("nowhere")))).toBe("session_not_found");
    expect(await codeOf(first(orcha.researcher.tail(sessionId)))).toBe("session_not_found");
    expect(await codeOf(first(orcha.supportAgent.tail(sessionId, { after: 99 })))).toBe("invalid_input");
    expect(await codeOf(first(orcha.supportAgent.tail(sessionId, { after: 1.5 })))).toBe("invalid_input");
  });

  test("ends quietly where its signal fires", async () => {
    const orcha = clientOf(await make());
    const { sessionId } = await opened(orcha);
    const controller = new AbortController();
    const reading = until(orcha.supportAgent.tail(sessionId, { signal: controller.signal }), (frame) => {
      // While it waits for more.
      if (isReady(frame)) setTimeout(() => controller.abort(), 20);
      return false;
    });
    expect((await reading).map(({ type }) => type)).toEqual(["ready"]);
    expect(await until(orcha.supportAgent.tail(sessionId, { signal: controller.signal }), () => false)).toEqual([]);
  });

  test("comes piece by piece where streams can't be read", async () => {
    const orcha = clientOf(await make(), {}, { streams: false });
    const { sessionId, throughSequence } = await opened(orcha);
    const frames = orcha.supportAgent.tail(sessionId, { after: throughSequence })[Symbol.asyncIterator]();
    const upcoming = frames.next();
    await new Promise((resolve) => setTimeout(resolve, 20));
    await orcha.supportAgent.append(sessionId, say("three"));
    const read = [(await upcoming).value as Frame];
    while (read.filter(({ type }) => type === "item").length < 2) {
      read.push((await frames.next()).value as Frame);
      if (read.length === 3) await orcha.supportAgent.append(sessionId, say("four"));
    }
    expect(read.map(textOf).filter((text) => text !== "")).toEqual(["three", "four"]);
    await frames.return?.(undefined);
  });

  test("that comes piece by piece is not asked for again and again while an answer is being made", async () => {
    const bed = bedOf(await make(), { support: [{ text: "One, two, three", chunkSize: 5, delayMs: 400 }] });
    const run = bed.orcha.supportAgent.run({ content: "Count", variables });
    await expect.poll(async () => (await bed.orcha.supportAgent.get.safe(run.sessionId)).data?.runStatus).toBe("running");
    let asked = 0;
    const orcha = createOrcha<typeof agents>({
      baseUrl: "http://orcha.test",
      streams: false,
      fetch: async (input, init) => {
        asked += 1;
        // As a network: without one, nothing else would ever come to its turn.
        await new Promise((resolve) => setTimeout(resolve, 1));
        return bed.service.app.fetch(new Request(input, init));
      },
    });
    const start = performance.now();
    const frames = await until(orcha.supportAgent.tail(run.sessionId), (frame) => textOf(frame) === "One, two, three");
    expect(frames.some(({ type }) => type === "text")).toBe(true);
    expect(asked).toBeLessThan(4 + (performance.now() - start) / 300);
  });

  test("that comes piece by piece is not asked for again and again while its server ends", async () => {
    const bed = bedOf(await make(), {});
    const { sessionId } = await bed.orcha.supportAgent.create({ variables });
    await bed.service.drain(0);
    let asked = 0;
    const orcha = createOrcha<typeof agents>({
      baseUrl: "http://orcha.test",
      streams: false,
      retry: { minDelayMs: 50, maxDelayMs: 100 },
      fetch: async (input, init) => {
        asked += 1;
        await new Promise((resolve) => setTimeout(resolve, 1));
        return bed.service.app.fetch(new Request(input, init));
      },
    });
    const start = performance.now();
    const lost: string[] = [];
    const tail = orcha.supportAgent.tail(sessionId, { signal: AbortSignal.timeout(300), onDisconnect: ({ code }) => lost.push(code) });
    expect(await until(tail, () => false)).toEqual([]);
    expect(lost[0]).toBe("too_busy");
    expect(asked).toBeLessThan(3 + (performance.now() - start) / 50);
  });

  test("tells the answer in the making, wherever it is made", async () => {
    const store = await make();
    const one = bedOf(store, { support: [{ text: "One, two, three, four, five, six, seven", chunkSize: 5, delayMs: 250 }] });
    const two = bedOf(store, {});
    const run = one.orcha.supportAgent.run({ content: "Count", variables });
    await expect.poll(async () => (await one.orcha.supportAgent.get.safe(run.sessionId)).data?.runStatus).toBe("running");
    const readers = [one, two].map(async ({ orcha }) => {
      let text = "";
      for await (const frame of orcha.supportAgent.tail(run.sessionId)) {
        // Each piece stands where the last one ended.
        if (frame.type === "text") text = text.slice(0, frame.offset) + frame.text;
        if (frame.type === "item") return { text, said: textOf(frame) };
      }
      return undefined;
    });
    for (const read of await Promise.all(readers)) {
      expect(read?.said).toBe("One, two, three, four, five, six, seven");
      expect(read?.text.length).toBeGreaterThan(4);
      expect(read?.said.startsWith(read.text)).toBe(true);
    }
  });

  test("doesn't tell again, as in the making, an answer that is said", async () => {
    const store = await make();
    let goOn = (): void => {};
    const looked = new Promise<void>((resolve) => (goOn = resolve));
    const toolCalls = [{ name: "lookup_order", arguments: { orderId: "A-1" } }];
    const first = { text: "One, two, three, four, five, six, seven", chunkSize: 5, delayMs: 70, toolCalls };
    const bed = bedOf(store, { support: [first, async () => (await looked, { text: "Eight" })] });
    const run = bed.orcha.supportAgent.run({ content: "Count", variables });
    const { orcha } = bedOf(store, {});
    await expect.poll(() => bed.models.supportAgent.requests.length).toBe(2);
    for (const reader of [bed.orcha, orcha]) {
      expect(await toldNow(reader, run.sessionId)).toEqual(["ready", "snapshot"]);
    }
    goOn();
    await run.evaluations;
    expect(await toldNow(orcha, run.sessionId)).toEqual(["ready", "snapshot"]);
  });

  test("is asked to reconnect where its server ends, and goes on with another", async () => {
    const store = await make();
    const [one, two] = [bedOf(store, {}), bedOf(store, {})];
    let asked = 0;
    const { orcha } = bedOf(store, {
      client: {
        fetch: async (input, init) => {
          const request = new Request(input, init);
          if (new URL(request.url).pathname !== "/rpc/tail") return two.service.app.fetch(request);
          asked += 1;
          return (asked === 1 ? one : two).service.app.fetch(request);
        },
      },
    });
    const { session } = await orcha.supportAgent.restore([{ role: "user", content: "one" }]);
    const losses: string[] = [];
    const frames = orcha.supportAgent.tail(session.sessionId, { onDisconnect: ({ code }) => losses.push(code) })[Symbol.asyncIterator]();
    await frames.next();
    expect(losses).toEqual([]);
    const following = frames.next();
    await one.service.drain(0);
    await orcha.supportAgent.append(session.sessionId, say("two"));
    expect(textOf((await following).value as Frame)).toBe("two");
    expect(asked).toBe(2);
    expect(losses).toEqual(["network"]);
    await frames.return?.(undefined);
  });
});
