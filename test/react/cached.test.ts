import { mount } from "./mount.ts";
import { OrchaError } from "@orcha/client";
import { historyKey, historyQuery, useHistory, type Conversation, type SendingMessage } from "@orcha/client/react";
import { dehydrate, hydrate, keepPreviousData, QueryClient } from "@tanstack/react-query";
import { describe, expect, test } from "vitest";
import { approval, variables } from "../runs/bed.ts";
import { ask, latency, openedWith, say, serverOf, wordsOf, type ReactBed } from "./server.ts";

/** What a page shows: messages that are on their way, or failed, say so. */
function shown({ items }: Pick<Conversation, "items">): string[] {
  return items.map((item) => (item.type === "message" && item.sending ? `${wordsOf(item)} ${item.sending.status}` : wordsOf(item)));
}

/** What becomes of the message that was sent last. */
function sendingOf({ items }: Pick<Conversation, "items">): SendingMessage["sending"] | undefined {
  const last = items.at(-1);
  return last?.type === "message" ? last.sending : undefined;
}

/** A session that can be run, and its conversation in a page. */
async function opened(bed: ReactBed) {
  const { sessionId } = await bed.orcha.supportAgent.create({ variables });
  await say(bed, sessionId, "Hi");
  const use = () => useHistory(bed.orcha.supportAgent, sessionId);
  const page = mount(use);
  await expect.poll(() => page.current.connection).toBe("live");
  return { sessionId, use, page };
}

/** The app is closed, and opened again on what a persister wrote down. */
function laterLife({ queryClient }: { queryClient: QueryClient }): QueryClient {
  const later = new QueryClient();
  hydrate(later, JSON.parse(JSON.stringify(dehydrate(queryClient))));
  return later;
}

const forbidden = (): Response =>
  Response.json({ json: { code: "forbidden", message: "not for you", data: { retryable: false } } }, { status: 403 });

describe("a cache that was written down", () => {
  test("while a message was on its way says that nobody knows, and says the message once when it is said again", async () => {
    const bed = serverOf({ support: [{ text: "Hello" }] });
    const { use, page } = await opened(bed);
    bed.intercept((operation) => (operation === "resume" ? new Promise(() => {}) : undefined));
    void page.current.send("Help");
    await expect.poll(() => shown(page.current)).toEqual(["Hi", "Help sending"]);
    const queryClient = laterLife(page);
    page.unmount();
    bed.intercept(() => undefined);

    const later = mount(use, { queryClient });
    await expect.poll(() => shown(later.current)).toEqual(["Hi", "Help failed"]);
    expect(later.current.isRunning).toBe(false);
    expect(sendingOf(later.current)).toMatchObject({ error: { code: "network", retryable: true } });
    sendingOf(later.current)?.retry();
    await expect.poll(() => shown(later.current).slice(0, 3)).toEqual(["Hi", "Help", "Hello"]);
  });

  test("while a message was on its way that had arrived shows it once", async () => {
    const bed = serverOf({ support: [{ text: "Hello" }] });
    const { sessionId, use, page } = await opened(bed);
    bed.intercept((operation) => (operation === "resume" ? new Promise(() => {}) : undefined));
    void page.current.send("Help");
    await expect.poll(() => shown(page.current)).toEqual(["Hi", "Help sending"]);
    const queryClient = laterLife(page);
    page.unmount();
    await say(bed, sessionId, "Help");

    const later = mount(use, { queryClient });
    await expect.poll(() => shown(later.current)).toEqual(["Hi", "Help"]);
    await expect.poll(() => later.current.connection).toBe("live");
  });

  test("while an approval was answered lets it be answered again", async () => {
    const bed = serverOf();
    const { sessionId, use, page } = await opened(bed);
    await ask(bed, sessionId, "c1");
    await expect.poll(() => page.current.pendingClientActions).toHaveLength(1);
    bed.intercept((operation) => (operation === "resume" ? new Promise(() => {}) : undefined));
    void page.current.pendingClientActions[0]?.answer({ approved: true });
    await expect.poll(() => page.current.pendingClientActions[0]?.isAnswering).toBe(true);
    const queryClient = laterLife(page);
    page.unmount();

    const later = mount(use, { queryClient });
    await expect.poll(() => later.current.connection).toBe("live");
    await expect.poll(() => later.current.pendingClientActions[0]?.isAnswering).toBe(false);
    expect(later.current.isRunning).toBe(false);
  });

  test("while an older page was on its way lets it be asked for again", async () => {
    const bed = serverOf();
    const sessionId = await openedWith(bed, 4);
    const use = () => useHistory(bed.orcha.supportAgent, sessionId, { pageSize: 2 });
    const page = mount(use);
    await expect.poll(() => page.current.connection).toBe("live");
    bed.intercept((operation) => (operation === "history" ? new Promise(() => {}) : undefined));
    void page.current.fetchOlder();
    await expect.poll(() => page.current.isFetchingOlder).toBe(true);
    const queryClient = laterLife(page);
    page.unmount();
    bed.intercept(() => undefined);

    const later = mount(use, { queryClient });
    await expect.poll(() => later.current.isFetchingOlder).toBe(false);
    await later.current.fetchOlder();
    await expect.poll(() => shown(later.current)).toEqual(["0", "1", "2", "3"]);
  });

  test("keeps its errors, which are errors again, and the same ones at each rendering", async () => {
    const bed = serverOf();
    const { sessionId, use, page } = await opened(bed);
    await ask(bed, sessionId, "c1");
    await expect.poll(() => page.current.pendingClientActions).toHaveLength(1);
    bed.intercept((operation) => (operation === "resume" ? forbidden() : undefined));
    void page.current.send("Help");
    void page.current.pendingClientActions[0]?.deny();
    await expect.poll(() => page.current.pendingClientActions[0]?.error?.code).toBe("forbidden");
    await expect.poll(() => shown(page.current).at(-1)).toBe("Help failed");
    const queryClient = laterLife(page);
    page.unmount();

    const later = mount(use, { queryClient });
    await expect.poll(() => later.current.connection).toBe("live");
    const errors = (): (OrchaError | undefined)[] => [sendingOf(later.current)?.error, later.current.pendingClientActions[0]?.error];
    for (const error of errors()) {
      expect(error).toBeInstanceOf(OrchaError);
      expect(error).toMatchObject({ code: "forbidden", message: "not for you", retryable: false });
    }
    const before = errors();
    later.render(undefined);
    await latency();
    expect(errors().every((error, index) => error === before[index])).toBe(true);
  });
});

describe("a page that somebody else puts into the cache", () => {
  test("loses nothing that is on its way, and nothing that failed", async () => {
    const bed = serverOf();
    const { sessionId, page } = await opened(bed);
    await ask(bed, sessionId, "c1");
    await expect.poll(() => page.current.pendingClientActions).toHaveLength(1);
    const answers: ((response: Response) => void)[] = [];
    bed.intercept((operation) => (operation === "resume" ? new Promise((resolve) => answers.push(resolve)) : undefined));
    void page.current.send("Help");
    void page.current.pendingClientActions[0]?.deny();
    await expect.poll(() => answers).toHaveLength(2);

    const rendered = new QueryClient();
    await rendered.prefetchQuery(historyQuery(bed.orcha.supportAgent, sessionId));
    await latency();
    hydrate(page.queryClient, JSON.parse(JSON.stringify(dehydrate(rendered))));
    await expect.poll(() => shown(page.current).at(-1)).toBe("Help sending");
    expect(page.current.pendingClientActions[0]?.isAnswering).toBe(true);

    for (const answer of answers) answer(forbidden());
    await expect.poll(() => shown(page.current).at(-1)).toBe("Help failed");
    await expect.poll(() => page.current.pendingClientActions[0]?.error?.code).toBe("forbidden");
    await page.queryClient.resetQueries({ queryKey: historyKey(bed.orcha.supportAgent, sessionId) });
    await expect.poll(() => shown(page.current).at(-1)).toBe("Help failed");
  });

  test("and that begins behind what was on its way shows it once, when older pages come", async () => {
    const bed = serverOf();
    const sessionId = await openedWith(bed, 2);
    const page = mount(() => useHistory(bed.orcha.supportAgent, sessionId, { pageSize: 2 }));
    await expect.poll(() => page.current.connection).toBe("live");
    let isCut = true;
    bed.intercept((operation) => {
      if (operation === "resume") return forbidden();
      return operation === "tail" && isCut ? new Promise(() => {}) : undefined;
    });
    page.current.retry();
    void page.current.send("Help");
    await expect.poll(() => shown(page.current).at(-1)).toBe("Help failed");
    await say(bed, sessionId, "Help", "a", "b");
    isCut = false;
    await page.queryClient.resetQueries({ queryKey: historyKey(bed.orcha.supportAgent, sessionId) });
    await expect.poll(() => shown(page.current)).toEqual(["a", "b", "Help failed"]);
    await page.current.fetchOlder();
    await expect.poll(() => shown(page.current)).toEqual(["1", "Help", "a", "b"]);
  });

  test("and that begins behind what has arrived meanwhile shows it as little as the page does", async () => {
    const bed = serverOf({ support: [{ text: "Hello" }] });
    const { sessionId } = await bed.orcha.supportAgent.create({ variables });
    await say(bed, sessionId, "Hi");
    const page = mount(() => useHistory(bed.orcha.supportAgent, sessionId, { pageSize: 1 }));
    await expect.poll(() => page.current.connection).toBe("live");
    let isCut = true;
    let arrive: () => void = () => {};
    bed.intercept(async (operation, request) => {
      if (operation === "tail" && isCut) return new Promise(() => {});
      if (operation !== "resume") return undefined;
      const response = await bed.service.app.fetch(request);
      await new Promise<void>((resolve) => (arrive = resolve));
      return response;
    });
    page.current.retry();
    const sent = page.current.send("Help");
    await expect.poll(async () => (await bed.orcha.supportAgent.get(sessionId)).runStatus).toBe("completed");
    isCut = false;
    await page.queryClient.resetQueries({ queryKey: historyKey(bed.orcha.supportAgent, sessionId) });
    await expect.poll(() => shown(page.current).at(-1)).toBe("Help sending");
    arrive();
    await sent;
    await expect.poll(() => shown(page.current).filter((words) => words.startsWith("Help"))).toEqual([]);
    expect(page.current.isRunning).toBe(false);
  });

  test("and that holds already what is on its way shows it once", async () => {
    const bed = serverOf({ support: approval });
    const { sessionId, page } = await opened(bed);
    let isHeld = true;
    bed.intercept(async (operation, request) => {
      if (operation === "tail" && isHeld) return new Promise(() => {});
      return operation === "resume" ? bed.service.app.fetch(request) : undefined;
    });
    page.current.retry();
    const sent = page.current.send("Help");
    await expect.poll(async () => (await bed.orcha.supportAgent.get(sessionId)).sequence).toBeGreaterThan(3);
    expect(shown(page.current).at(-1)).toBe("Help sending");
    isHeld = false;
    await page.queryClient.resetQueries({ queryKey: historyKey(bed.orcha.supportAgent, sessionId) });
    await sent;
    await expect.poll(() => shown(page.current).filter((words) => words.startsWith("Help"))).toEqual(["Help"]);
  });
});

/** Gives each cache a copy of what the others write, as TanStack's `broadcastQueryClient` does for tabs. */
function shareCaches(...clients: readonly QueryClient[]): void {
  let isApplying = false;
  for (const client of clients) {
    client.getQueryCache().subscribe((event) => {
      if (isApplying || event.type !== "updated" || event.action.type !== "success") return;
      const copy = structuredClone(event.query.state);
      setTimeout(() => {
        isApplying = true;
        for (const other of clients) if (other !== client) other.getQueryCache().get(event.query.queryHash)?.setState(copy);
        isApplying = false;
      });
    });
  }
}

test("tabs that share a cache show the same, and have a tail each", async () => {
  const bed = serverOf({ support: approval });
  const { sessionId } = await bed.orcha.supportAgent.create({ variables });
  await say(bed, sessionId, "Hi");
  const clients = [new QueryClient(), new QueryClient()] as const;
  shareCaches(...clients);
  const use = () => useHistory(bed.orcha.supportAgent, sessionId);
  const tabs = clients.map((queryClient) => mount(use, { queryClient }));
  await expect.poll(() => tabs.map((tab) => tab.all.at(-1)?.connection)).toEqual(["live", "live"]);
  const [one, two] = tabs;
  await one?.current.send("Refund it");
  await expect.poll(() => tabs.map((tab) => tab.current.pendingClientActions.length)).toEqual([1, 1]);
  await two?.current.pendingClientActions[0]?.answer({ approved: true });
  await say(bed, sessionId, "Thanks");
  await expect.poll(() => tabs.map((tab) => shown(tab.current).filter((words) => /^(Hi|Refund|Done|Thanks)/.test(words)))).toEqual(
    tabs.map(() => ["Hi", "Refund it", "Done.", "Thanks"]),
  );
  // Another tab's copy may be behind, and is caught up with; then there is nothing to open any more.
  const opened = async (): Promise<number> => {
    const before = bed.numSent("tail");
    await new Promise((resolve) => setTimeout(resolve, 100));
    return bed.numSent("tail") - before;
  };
  await expect.poll(opened).toBe(0);
  expect(bed.numTails()).toBe(2);
});

test("an app that keeps the page before on the screen by default sees no other session's approvals", async () => {
  const bed = serverOf();
  const [first, second] = [await openedWith(bed, 1), await openedWith(bed, 2)];
  await ask(bed, first, "c1");
  const queryClient = new QueryClient({ defaultOptions: { queries: { placeholderData: keepPreviousData } } });
  const page = mount((sessionId: string) => useHistory(bed.orcha.supportAgent, sessionId), { queryClient, properties: first });
  await expect.poll(() => page.current.pendingClientActions).toHaveLength(1);
  let read: () => void = () => {};
  bed.intercept(async (operation) => {
    if (operation === "history") await new Promise<void>((resolve) => (read = resolve));
    return undefined;
  });
  page.render(second);
  await expect.poll(() => page.current.status).toBe("pending");
  expect(page.current.pendingClientActions).toEqual([]);
  read();
  await expect.poll(() => shown(page.current)).toEqual(["0", "1"]);
});
