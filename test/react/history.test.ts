import { mount } from "./mount.ts";
import { useHistory, useRun, type Conversation } from "@orcha/client/react";
import { describe, expect, test } from "vitest";
import { approval, monologue, variables } from "../runs/bed.ts";
import { ask, latency, openedWith, say, serverOf, wordsOf } from "./server.ts";

type Shown = Pick<Conversation, "status" | "connection"> & { items: readonly { id: string; type: string }[] };

const words = (shown: Shown): string[] => shown.items.map(wordsOf);
const ids = (shown: Shown): string[] => shown.items.map(({ id }) => id);
const numbers = (from: number, to: number): string[] => Array.from({ length: to - from }, (_, index) => String(from + index));

describe("a history", () => {
  test("is its newest page, then older ones on demand; what is there stays the same objects", async () => {
    const bed = serverOf();
    const sessionId = await openedWith(bed, 25);
    const page = mount(() => useHistory(bed.orcha.supportAgent, sessionId, { pageSize: 10 }));
    await expect.poll(() => page.all.at(-1)?.connection).toBe("live");
    expect(page.all[0]).toMatchObject({ status: "pending", items: [], hasOlder: false, connection: "connecting" });
    expect(words(page.current)).toEqual(numbers(15, 25));
    expect(page.current.snapshot).toMatchObject({ sessionId, status: "active" });
    const { items } = page.current;
    let goOn = (): void => {};
    bed.intercept((operation) => (operation === "history" ? new Promise((resolve) => (goOn = () => resolve(undefined))) : undefined));
    const fetching = [page.current.fetchOlder(), page.current.fetchOlder()];
    await expect.poll(() => page.current.isFetchingOlder).toBe(true);
    goOn();
    await Promise.all(fetching);
    bed.intercept(() => undefined);
    await expect.poll(() => words(page.current)).toEqual(numbers(5, 25));
    expect(page.current.items.slice(10)).toEqual(items);
    expect(page.current.items.slice(10).every((item, index) => item === items[index])).toBe(true);
    expect(page.current).toMatchObject({ hasOlder: true, isFetchingOlder: false });
    await page.current.fetchOlder();
    await expect.poll(() => words(page.current)).toEqual(numbers(0, 25));
    expect(page.current.hasOlder).toBe(false);
    await page.current.fetchOlder();
    expect(bed.numSent("history")).toBe(3);
    expect(bed.numSent("tail")).toBe(1);
  });

  test("moves on while older pages are read: nothing twice, nothing missing, in order", async () => {
    const bed = serverOf();
    const sessionId = await openedWith(bed, 25);
    const page = mount(() => useHistory(bed.orcha.supportAgent, sessionId, { pageSize: 10 }));
    await expect.poll(() => page.current.status).toBe("success");
    await Promise.all([say(bed, sessionId, "25", "26", "27"), page.current.fetchOlder(), page.current.fetchOlder()]);
    await say(bed, sessionId, "28");
    await page.current.fetchOlder();
    await expect.poll(() => words(page.current)).toEqual(numbers(0, 29));
    for (const shown of page.all) expect(new Set(ids(shown)).size).toBe(shown.items.length);
    // The items of each moment are a part of the whole, without holes.
    for (const shown of page.all) expect(numbers(0, 29).join().includes(words(shown).join())).toBe(true);
  });

  test("shows an item that changed before its page was loaded as it is, not as the page's view has it", async () => {
    const bed = serverOf();
    const sessionId = await openedWith(bed, 3);
    await ask(bed, sessionId, "c");
    await say(bed, sessionId, "4", "5");
    const page = mount(() => useHistory(bed.orcha.supportAgent, sessionId, { pageSize: 2 }));
    await expect.poll(() => page.current.connection).toBe("live");
    await bed.orcha.supportAgent.resume(sessionId, { toolResults: [{ callId: "c", output: { approved: true } }] }).result;
    await expect.poll(() => page.current.pendingClientActions).toEqual([]);
    await page.current.fetchOlder();
    await expect.poll(() => words(page.current)).toEqual(["2", "client_action completed", "4", "5"]);
  });

  test("changes an item in its place, and leaves the others alone", async () => {
    const bed = serverOf();
    const sessionId = await openedWith(bed, 2);
    await ask(bed, sessionId, "c");
    await say(bed, sessionId, "3");
    const page = mount(() => useHistory(bed.orcha.supportAgent, sessionId));
    await expect.poll(() => page.current.connection).toBe("live");
    const before = page.current.items;
    await bed.orcha.supportAgent.resume(sessionId, { toolResults: [{ callId: "c", output: { approved: true } }] }).result;
    await expect.poll(() => words(page.current)).toEqual(["0", "1", "client_action completed", "3"]);
    expect(page.current.items.map((item, index) => item === before[index])).toEqual([true, true, false, true]);
  });

  test("renders nothing where nothing changes", async () => {
    const bed = serverOf();
    const sessionId = await openedWith(bed, 2);
    const page = mount(() => useHistory(bed.orcha.supportAgent, sessionId));
    await expect.poll(() => page.current.connection).toBe("live");
    const { items, pendingClientActions } = page.current;
    await bed.orcha.supportAgent.update(sessionId, { name: "Named" });
    await expect.poll(() => page.current.snapshot?.name).toBe("Named");
    expect(page.current.items).toBe(items);
    expect(page.current.pendingClientActions).toBe(pendingClientActions);
  });

  test("says why it can't be read, without asking again and again", async () => {
    const bed = serverOf();
    const page = mount(() => useHistory(bed.orcha.supportAgent, "nowhere"));
    await expect.poll(() => page.current.status).toBe("error");
    expect(page.current.error?.code).toBe("session_not_found");
    expect(bed.numSent("history")).toBe(1);
    await bed.orcha.supportAgent.create({ sessionId: "nowhere" });
    page.current.retry();
    await expect.poll(() => page.current.connection).toBe("live");
    expect(page.current).toMatchObject({ status: "success", error: undefined });
  });

  test("of another session is shown once its id changes", async () => {
    const bed = serverOf();
    const [one, two] = [await openedWith(bed, 1), await openedWith(bed, 2)];
    const page = mount((id: string) => useHistory(bed.orcha.supportAgent, id), { properties: one });
    await expect.poll(() => page.current.connection).toBe("live");
    page.render(two);
    await expect.poll(() => words(page.current)).toEqual(["0", "1"]);
    await say(bed, one, "to one");
    await say(bed, two, "to two");
    await expect.poll(() => words(page.current)).toEqual(["0", "1", "to two"]);
    await expect.poll(() => bed.numTails()).toBe(1);
    page.render(one);
    // What was read before shows at once; the tail catches up from there.
    await expect.poll(() => words(page.current)).toEqual(["0", "to one"]);
    expect(bed.numSent("history")).toBe(2);
  });

  test("whose session is deleted while its connection is lost ends too", async () => {
    const bed = serverOf();
    const sessionId = await openedWith(bed, 1);
    let isLost = true;
    bed.intercept((operation) => (operation === "tail" && isLost ? new Response(null, { status: 503 }) : undefined));
    const page = mount(() => useHistory(bed.orcha.supportAgent, sessionId));
    await expect.poll(() => page.all.at(-1)?.connection).toBe("reconnecting");
    await bed.orcha.supportAgent.delete(sessionId);
    isLost = false;
    await expect.poll(() => page.current.connection).toBe("ended");
    expect(page.current).toMatchObject({ ended: "deleted", error: undefined });
    expect(words(page.current)).toEqual(["0"]);
  });

  test("of a session that is deleted is at work for nobody, and asks nobody", async () => {
    const bed = serverOf({ support: approval.slice(0, 1) });
    const run = bed.orcha.supportAgent.run({ content: "Refund, please", variables });
    await run.result;
    const waiting = mount(() => useHistory(bed.orcha.supportAgent, run.sessionId));
    await expect.poll(() => waiting.current.pendingClientActions).toHaveLength(1);
    await bed.orcha.supportAgent.delete(run.sessionId);
    await expect.poll(() => waiting.current.ended).toBe("deleted");
    expect(waiting.current.pendingClientActions).toEqual([]);

    // What runs elsewhere, and is cut short.
    const { sessionId } = await bed.orcha.supportAgent.create({ variables });
    await ask(bed, sessionId, "c1");
    await bed.orcha.supportAgent.resume(sessionId, { toolResults: [{ callId: "c1", output: { approved: true } }] }).result;
    const atWork = mount(() => useHistory(bed.orcha.supportAgent, sessionId));
    await expect.poll(() => [atWork.current.connection, atWork.current.isRunning]).toEqual(["live", true]);
    await bed.orcha.supportAgent.delete(sessionId);
    await expect.poll(() => atWork.current.ended).toBe("deleted");
    expect(atWork.current.isRunning).toBe(false);
  });

  test("ends with its session, and says how", async () => {
    const bed = serverOf();
    for (const [end, ended] of [["complete", "completed"], ["delete", "deleted"]] as const) {
      const sessionId = await openedWith(bed, 1);
      const page = mount(() => useHistory(bed.orcha.supportAgent, sessionId));
      await expect.poll(() => page.current.connection).toBe("live");
      await bed.orcha.supportAgent[end](sessionId);
      await expect.poll(() => page.current.ended).toBe(ended);
      expect(page.current).toMatchObject({ connection: "ended", error: undefined });
    }
    const sessionId = await openedWith(bed, 1);
    await bed.orcha.supportAgent.complete(sessionId);
    const tails = bed.numSent("tail");
    const page = mount(() => useHistory(bed.orcha.supportAgent, sessionId));
    await expect.poll(() => page.current.ended).toBe("completed");
    expect(bed.numSent("tail")).toBe(tails);
  });
});

describe("a run", () => {
  test("shows what is said at once, then the answer in the making, then its item: never two of them", async () => {
    const bed = serverOf({ support: [{ text: "One, two, three, four", chunkSize: 2, delayMs: 15 }] });
    const { sessionId } = await bed.orcha.supportAgent.create({ variables });
    const page = mount(() => useHistory(bed.orcha.supportAgent, sessionId));
    await expect.poll(() => page.current.connection).toBe("live");
    bed.intercept(latency);
    const result = page.current.send("Count");
    expect(await result).toMatchObject({ status: "completed", output: "One, two, three, four" });
    await expect.poll(() => page.current.isRunning).toBe(false);
    expect(words(page.current).slice(0, 2)).toEqual(["Count", "One, two, three, four"]);
    const texts = page.all.flatMap(({ streaming }) => (streaming ? [streaming.text] : []));
    expect(texts.length).toBeGreaterThan(2);
    expect(texts.every((text, index) => text.startsWith(texts[index - 1] ?? ""))).toBe(true);
    const isSaid = page.all.findIndex((shown) => words(shown).includes("Count"));
    expect(page.all[isSaid]).toMatchObject({ isRunning: true, items: [{ role: "user", sending: { status: "sending" } }] });
    for (const shown of page.all.slice(isSaid)) {
      const said = words(shown);
      expect(said.filter((text) => text === "Count")).toHaveLength(1);
      expect(said.some((text) => text.startsWith("One")) && shown.streaming !== undefined).toBe(false);
    }
    expect(page.current.items.every((item) => !("sending" in item))).toBe(true);
  });

  test("that is refused keeps what was said, to be said again or discarded", async () => {
    const bed = serverOf({ support: [{ text: "Yes" }] });
    const { sessionId } = await bed.orcha.supportAgent.create({ variables });
    const page = mount(() => useHistory(bed.orcha.supportAgent, sessionId));
    await expect.poll(() => page.current.connection).toBe("live");
    bed.intercept((operation) => (operation === "resume" ? Response.json({ json: { code: "forbidden", message: "no" } }, { status: 403 }) : undefined));
    void page.current.send("Hello?");
    void page.current.send("Hello?");
    const states = () => page.current.items.map((item) => (item.type === "message" ? item.sending?.status : item.type));
    await expect.poll(states).toEqual(["failed", "failed"]);
    const [first, second] = page.current.items;
    if (first?.type !== "message" || second?.type !== "message") throw new Error("two messages were said");
    expect(first.sending?.error?.code).toBe("forbidden");
    first.sending?.discard();
    bed.intercept(() => undefined);
    second.sending?.retry();
    await expect.poll(() => page.current.snapshot?.runStatus).toBe("completed");
    expect(words(page.current).slice(0, 2)).toEqual(["Hello?", "Yes"]);
    expect(words(page.current).filter((text) => text === "Hello?")).toHaveLength(1);
  });

  test("that is sent before there is a page waits for it, and is shown whatever becomes of it", async () => {
    const bed = serverOf({ support: [{ text: "Yes" }] });
    const { sessionId } = await bed.orcha.supportAgent.create({ variables });
    let goOn = (): void => {};
    const read = new Promise<undefined>((resolve) => (goOn = () => resolve(undefined)));
    bed.intercept((operation) => {
      if (operation === "history") return read;
      return operation === "resume" ? Response.json({ json: { code: "forbidden", message: "no" } }, { status: 403 }) : undefined;
    });
    const page = mount(() => useHistory(bed.orcha.supportAgent, sessionId));
    await expect.poll(() => page.all.at(-1)?.status).toBe("pending");
    const sent = page.current.send("Hello?");
    goOn();
    expect(await sent).toMatchObject({ status: "failed", error: { code: "forbidden" } });
    await expect.poll(() => page.current.items).toMatchObject([{ role: "user", sending: { status: "failed", error: { code: "forbidden" } } }]);
    bed.intercept(() => undefined);
    const [shown] = page.current.items;
    if (shown?.type === "message") shown.sending?.retry();
    await expect.poll(() => words(page.current).slice(0, 2)).toEqual(["Hello?", "Yes"]);
    expect(bed.numSent("history")).toBe(1);
  });

  test("that is sent where there is no page tells why", async () => {
    const bed = serverOf();
    const page = mount(() => useHistory(bed.orcha.supportAgent, "ses_none"));
    await expect.poll(() => page.all.at(-1)?.status).toBe("error");
    expect(await page.current.send("Hello?")).toMatchObject({ status: "failed", sessionId: "ses_none", error: { code: "session_not_found" } });
    expect(bed.numSent("resume")).toBe(0);
  });

  test("whose answer got lost is not said twice when it is said again", async () => {
    const bed = serverOf({ support: [{ text: "Yes" }] });
    const { sessionId } = await bed.orcha.supportAgent.create({ variables });
    const page = mount(() => useHistory(bed.orcha.supportAgent, sessionId));
    await expect.poll(() => page.current.connection).toBe("live");
    let isLost = false;
    bed.intercept(async (operation, request) => {
      if (operation === "tail" && isLost) return new Response(null, { status: 503 });
      if (operation !== "resume" || isLost) return undefined;
      isLost = true;
      await bed.service.app.fetch(request);
      return Response.json({ json: { code: "unexpected", message: "a proxy ate it" } }, { status: 500 });
    });
    void page.current.send("Hello?");
    await expect.poll(() => page.current.snapshot?.runStatus).toBe("completed");
    expect(words(page.current).filter((text) => text === "Hello?")).toHaveLength(1);
    expect(page.current.items.every((item) => item.type !== "message" || !item.sending)).toBe(true);
  });

  test("waits for an approval: typed, answered once however often it is clicked", async () => {
    const bed = serverOf({ support: approval });
    const run = bed.orcha.supportAgent.run({ content: "Refund, please", variables });
    await run.result;
    const page = mount(() => useHistory(bed.orcha.supportAgent, run.sessionId));
    await expect.poll(() => page.current.pendingClientActions.length).toBe(1);
    bed.intercept(latency);
    const [pending] = page.current.pendingClientActions;
    if (pending?.name !== "request_human_approval") throw new Error("an approval waits");
    expect(pending).toMatchObject({ arguments: { amount: 750 }, isAnswering: false, error: undefined });
    const results = [pending.answer({ approved: true }), pending.answer({ approved: true })];
    expect(results[0]).toBe(results[1]);
    await expect.poll(() => page.all.some(({ pendingClientActions }) => pendingClientActions[0]?.isAnswering === true)).toBe(true);
    expect(await results[0]).toMatchObject({ status: "completed", output: "Done." });
    await expect.poll(() => page.current.pendingClientActions).toEqual([]);
    expect(bed.numSent("resume")).toBe(1);
    await expect.poll(() => words(page.current).slice(0, 4)).toEqual(["Refund, please", "One moment.", "client_action completed", "Done."]);
  });

  test("is not at work for an approval that is given again when it waits no more, as from a dialog that stayed open", async () => {
    const bed = serverOf({ support: approval });
    const { sessionId } = await bed.orcha.supportAgent.create({ variables });
    const page = mount(() => useHistory(bed.orcha.supportAgent, sessionId));
    await expect.poll(() => page.current.connection).toBe("live");
    await page.current.send("Where is my order?");
    await expect.poll(() => page.current.pendingClientActions).toHaveLength(1);
    const [pending] = page.current.pendingClientActions;
    await pending?.answer({ approved: true });
    await expect.poll(() => page.current.isRunning).toBe(false);
    expect(page.current.pendingClientActions).toEqual([]);
    await pending?.answer({ approved: true });
    await latency();
    expect(page.current.isRunning).toBe(false);
  });

  test("is told why an approval is denied; an answer that doesn't arrive can be given again", async () => {
    const bed = serverOf({ support: approval });
    const run = bed.orcha.supportAgent.run({ content: "Refund, please", variables });
    await run.result;
    const page = mount(() => useHistory(bed.orcha.supportAgent, run.sessionId));
    await expect.poll(() => page.current.pendingClientActions.length).toBe(1);
    bed.intercept((operation) => (operation === "resume" ? Response.json({ json: { code: "forbidden", message: "no" } }, { status: 403 }) : undefined));
    await page.current.pendingClientActions[0]?.deny("too much");
    await expect.poll(() => page.current.pendingClientActions[0]?.error?.code).toBe("forbidden");
    expect(page.current.pendingClientActions[0]?.isAnswering).toBe(false);
    bed.intercept(() => undefined);
    await page.current.pendingClientActions[0]?.deny("too much");
    await expect.poll(() => page.current.pendingClientActions).toEqual([]);
    expect(JSON.stringify(bed.models.supportAgent.requests[1]?.prompt)).toContain("too much");
  });

  test("that can't be reached rejects what asks for it, and no page has to catch that", async () => {
    const bed = serverOf({ support: [{ text: "Yes" }] });
    const { sessionId } = await bed.orcha.supportAgent.create({ variables });
    const page = mount(() => ({ shown: useHistory(bed.orcha.supportAgent, sessionId), run: useRun(bed.orcha.supportAgent) }));
    await expect.poll(() => page.all.at(-1)?.shown.connection).toBe("live");
    let goOn = (): void => {};
    const sent = new Promise<undefined>((resolve) => (goOn = () => resolve(undefined)));
    bed.intercept((operation) => (operation === "run" ? sent : Response.error()));
    const uncaught: unknown[] = [];
    const note = (reason: unknown): void => void uncaught.push(reason);
    process.on("unhandledRejection", note);
    page.current.run.run({ content: "Hello?", variables });
    await expect.poll(() => page.current.run.isRunning).toBe(true);
    const { shown, run } = page.current;
    const asked = [shown.stop(), shown.pause(), run.stop()];
    // As a button does it.
    void shown.stop();
    void shown.pause();
    void run.stop();
    for (const promise of asked) await expect(promise).rejects.toMatchObject({ code: "unexpected" });
    await new Promise((resolve) => setTimeout(resolve, 0));
    process.off("unhandledRejection", note);
    expect(uncaught).toEqual([]);
    goOn();
  });

  test("is stopped, paused and gone on with", async () => {
    const bed = serverOf({ support: [monologue, monologue, { text: "Done" }] });
    const { sessionId } = await bed.orcha.supportAgent.create({ variables });
    const page = mount(() => useHistory(bed.orcha.supportAgent, sessionId));
    await expect.poll(() => page.current.connection).toBe("live");
    void page.current.send("Count");
    await expect.poll(() => page.current.streaming?.text.length ?? 0).toBeGreaterThan(2);
    await page.current.stop();
    await expect.poll(() => page.current.snapshot?.runStatus).toBe("stopped");
    expect(page.current).toMatchObject({ streaming: undefined, isRunning: false });
    expect(page.current.items.at(-1)).toMatchObject({ type: "message", role: "assistant", incomplete: true });
    void page.current.send("Again");
    await expect.poll(() => page.current.streaming?.text.length ?? 0).toBeGreaterThan(2);
    await page.current.pause();
    await expect.poll(() => page.current.snapshot?.status).toBe("paused");
    await page.current.resume();
    await expect.poll(() => page.current.snapshot).toMatchObject({ status: "active", runStatus: "completed", lastOutput: "Done" });
  });
});
