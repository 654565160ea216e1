import { mount } from "./mount.ts";
import { useHistory } from "@orcha/client/react";
import { memoryStore } from "@orcha/server";
import { QueryClient } from "@tanstack/react-query";
import { describe, expect, test } from "vitest";
import { bedOf, variables } from "../runs/bed.ts";
import { ask, openedWith, say, serverOf, wordsOf } from "./server.ts";

const refused = (code: string, status: number) => Response.json({ json: { code, message: "no", data: { retryable: false } } }, { status });

describe("components that show the same session", () => {
  test("share one page and one tail, which ends with the last of them", async () => {
    const bed = serverOf();
    const sessionId = await openedWith(bed, 3);
    const queryClient = new QueryClient();
    const use = () => useHistory(bed.orcha.supportAgent, sessionId);
    const one = mount(use, { queryClient, times: 5 });
    const two = mount(use, { queryClient });
    await expect.poll(() => [one, two].map(({ current }) => current.connection)).toEqual(["live", "live"]);
    await say(bed, sessionId, "3");
    await expect.poll(() => [one, two].map(({ current }) => current.items.length)).toEqual([4, 4]);
    expect(one.current.items).toBe(two.current.items);
    expect([bed.numSent("history"), bed.numSent("tail")]).toEqual([1, 1]);
    one.unmount();
    await say(bed, sessionId, "4");
    await expect.poll(() => two.current.items.length).toBe(5);
    two.unmount();
    await expect.poll(() => bed.numTails()).toBe(0);
    expect(bed.numSent("tail")).toBe(1);
  });

  test("share it through React's strict mode, and between one that goes and one that comes", async () => {
    const bed = serverOf();
    const sessionId = await openedWith(bed, 1);
    const queryClient = new QueryClient();
    const use = () => useHistory(bed.orcha.supportAgent, sessionId);
    const one = mount(use, { queryClient, strict: true, times: 2 });
    await expect.poll(() => one.current.connection).toBe("live");
    one.unmount();
    const two = mount(use, { queryClient, strict: true });
    await say(bed, sessionId, "1");
    await expect.poll(() => two.current.items.length).toBe(2);
    expect([bed.numSent("history"), bed.numSent("tail")]).toEqual([1, 1]);
  });

  test("catch up on what happened while none was there, without reading the page again", async () => {
    const bed = serverOf();
    const sessionId = await openedWith(bed, 2);
    await ask(bed, sessionId, "c");
    const queryClient = new QueryClient();
    const use = () => useHistory(bed.orcha.supportAgent, sessionId);
    const one = mount(use, { queryClient });
    await expect.poll(() => one.current.connection).toBe("live");
    for (const text of ["a", "b", "c", "d"]) {
      await say(bed, sessionId, text);
      await expect.poll(() => one.current.items.map(wordsOf).at(-1)).toBe(text);
    }
    one.unmount();
    await expect.poll(() => bed.numTails()).toBe(0);
    await bed.orcha.supportAgent.resume(sessionId, { toolResults: [{ callId: "c", output: { approved: true } }] }).result;
    await say(bed, sessionId, "e");
    const two = mount(use, { queryClient });
    await expect.poll(() => two.all.length).toBeGreaterThan(0);
    // What was there shows at once, and stays the same objects.
    expect(two.all[0]?.items).toBe(one.current.items);
    await expect.poll(() => two.current.items.map(wordsOf)).toEqual(["0", "1", "client_action completed", "a", "b", "c", "d", "e"]);
    expect(two.current.items.map((item, index) => item === one.current.items[index])).toEqual([true, true, false, true, true, true, true, false]);
    expect(bed.numSent("history")).toBe(1);
  });
});

describe("a connection", () => {
  test("that its server ends is opened with another one, in the midst of an answer", async () => {
    const store = memoryStore();
    const one = serverOf({ support: [{ text: "One, two, three, four, five, six, seven", chunkSize: 2, delayMs: 120 }] }, store);
    const [two, three] = [bedOf(store), bedOf(store)];
    const { sessionId } = await one.orcha.supportAgent.create({ variables });
    let reads = two;
    one.intercept((operation, request) => (operation === "tail" ? reads.service.app.fetch(request) : undefined));
    const page = mount(() => useHistory(one.orcha.supportAgent, sessionId));
    await expect.poll(() => page.current.connection).toBe("live");
    void page.current.send("Count");
    await expect.poll(() => page.current.streaming?.text.length ?? 0).toBeGreaterThan(3);
    reads = three;
    await two.service.drain(0);
    await expect.poll(() => page.current.items.length).toBeGreaterThan(1);
    const states = page.all.map(({ connection }) => connection);
    expect(states.indexOf("reconnecting")).toBeGreaterThan(states.indexOf("live"));
    expect(page.current.connection).toBe("live");
    const texts = page.all.flatMap(({ streaming }) => (streaming ? [streaming.text] : []));
    expect(texts.every((text, index) => text.startsWith(texts[index - 1] ?? ""))).toBe(true);
    expect(page.current.items.map(wordsOf).slice(0, 2)).toEqual(["Count", "One, two, three, four, five, six, seven"]);
  });

  test("that is refused says why, and is opened again on demand", async () => {
    const bed = serverOf();
    const sessionId = await openedWith(bed, 1);
    bed.intercept((operation) => (operation === "tail" ? refused("unauthorized", 401) : undefined));
    const page = mount(() => useHistory(bed.orcha.supportAgent, sessionId));
    await expect.poll(() => page.current.connection).toBe("failed");
    expect(page.current).toMatchObject({ status: "success", error: { code: "unauthorized" } });
    expect(page.current.items).toHaveLength(1);
    await say(bed, sessionId, "missed");
    bed.intercept(() => undefined);
    page.current.retry();
    await expect.poll(() => page.current.items.map(wordsOf)).toEqual(["0", "missed"]);
    expect(page.current).toMatchObject({ connection: "live", error: undefined });
    expect(bed.numSent("history")).toBe(1);
  });

  test("with a hole in it is opened once more, then from a page that is read anew, and then given up", async () => {
    for (const [numHoles, expected] of [[1, [1, 2, "live"]], [2, [2, 3, "live"]], [9, [2, 4, "failed"]]] as const) {
      const bed = serverOf();
      const sessionId = await openedWith(bed, 2);
      const item = { id: "message:99", type: "message", role: "user", content: [], createdAt: "" };
      const hole = `data: ${JSON.stringify({ type: "item", item, position: 99 })}\n\n`;
      bed.intercept((operation) => {
        if (operation !== "tail" || bed.numSent("tail") > numHoles) return undefined;
        return new Response(hole, { headers: { "content-type": "text/event-stream" } });
      });
      const page = mount(() => useHistory(bed.orcha.supportAgent, sessionId));
      await expect.poll(() => [bed.numSent("history"), bed.numSent("tail"), page.all.at(-1)?.connection]).toEqual(expected);
      expect(page.current.items.map(wordsOf)).toEqual(["0", "1"]);
      if (numHoles === 9) continue;
      await say(bed, sessionId, "2");
      await expect.poll(() => page.current.items.map(wordsOf)).toEqual(["0", "1", "2"]);
    }
  });

  test("to a server whose log is shorter, as after a backup was put back, begins with a page of that", async () => {
    const bed = serverOf();
    const before = serverOf();
    const { sessionId } = await before.orcha.supportAgent.create({ sessionId: "ses_same", variables });
    await bed.orcha.supportAgent.create({ sessionId, variables });
    await say(bed, sessionId, "0", "1", "2");
    await say(before, sessionId, "0");
    const page = mount(() => useHistory(bed.orcha.supportAgent, sessionId));
    await expect.poll(() => page.all.at(-1)?.connection).toBe("live");
    bed.intercept((_operation, request) => before.service.app.fetch(request));
    await bed.service.drain(0);
    await expect.poll(() => page.current.items.map(wordsOf)).toEqual(["0"]);
    await say(before, sessionId, "one more");
    await expect.poll(() => page.current.items.map(wordsOf)).toEqual(["0", "one more"]);
    expect(page.current).toMatchObject({ connection: "live", error: undefined });
  });

  test("tells of an older page that didn't come, and takes another try", async () => {
    const bed = serverOf();
    const sessionId = await openedWith(bed, 4);
    const page = mount(() => useHistory(bed.orcha.supportAgent, sessionId, { pageSize: 2 }));
    await expect.poll(() => page.current.connection).toBe("live");
    bed.intercept((operation) => (operation === "history" ? refused("forbidden", 403) : undefined));
    await page.current.fetchOlder();
    await expect.poll(() => page.current.olderError?.code).toBe("forbidden");
    bed.intercept(() => undefined);
    await page.current.fetchOlder();
    await expect.poll(() => page.current.items.length).toBe(4);
    expect(page.current.olderError).toBe(undefined);
  });
});

describe("a cache that others write to", () => {
  test("keeps what is loaded where everything is invalidated, and loses no update meanwhile", async () => {
    const bed = serverOf();
    const sessionId = await openedWith(bed, 4);
    const page = mount(() => useHistory(bed.orcha.supportAgent, sessionId, { pageSize: 2 }));
    await expect.poll(() => page.current.connection).toBe("live");
    await page.current.fetchOlder();
    for (let round = 0; round < 5; round += 1) {
      await Promise.all([page.queryClient.invalidateQueries(), say(bed, sessionId, `said ${round}`)]);
    }
    await expect.poll(() => page.current.items.length).toBe(9);
    expect(bed.numSent("history")).toBe(2);
    expect(bed.numSent("tail")).toBe(1);
  });

  test("is read anew where it is reset, and followed from there", async () => {
    const bed = serverOf();
    const sessionId = await openedWith(bed, 4);
    const page = mount(() => useHistory(bed.orcha.supportAgent, sessionId, { pageSize: 2 }));
    await expect.poll(() => page.current.connection).toBe("live");
    await Promise.all([page.queryClient.resetQueries(), say(bed, sessionId, "a", "b")]);
    await say(bed, sessionId, "c");
    await expect.poll(() => page.current.items.map(wordsOf).slice(-3)).toEqual(["a", "b", "c"]);
    await page.current.fetchOlder();
    await page.current.fetchOlder();
    await expect.poll(() => page.current.items.map(wordsOf).join("")).toBe("0123abc");
    await expect.poll(() => bed.numTails()).toBe(1);
  });
});
