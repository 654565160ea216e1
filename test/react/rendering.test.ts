import { hydrated, mount, withClient } from "./mount.ts";
import { historyQuery, sessionsQuery, useHistory, useSessions, useSuspenseHistory } from "@orcha/client/react";
import { dehydrate, hydrate, QueryClient } from "@tanstack/react-query";
import { Component, createElement, Fragment, Suspense, type ReactElement, type ReactNode } from "react";
import { createRoot } from "react-dom/client";
import { renderToString } from "react-dom/server";
import { expect, onTestFinished, test } from "vitest";
import { openedWith, say, serverOf, wordsOf, type ReactBed } from "./server.ts";

/** What a test app shows, and how often it rendered. */
function appOf({ orcha }: ReactBed, sessionId: string, useIt: typeof useHistory = useHistory) {
  const renders: string[] = [];
  function App(): ReactElement {
    const { items, status, connection, hasOlder } = useIt(orcha.supportAgent, sessionId, { pageSize: 3 });
    const words = items.map(wordsOf).join(" ");
    renders.push(`${status} ${connection}: ${words}`);
    return createElement("main", null, hasOlder ? "… " : "", words === "" ? status : words);
  }
  return { App, renders };
}

/** What a server does for a page: reads, renders, and sends both. */
async function rendered({ orcha }: ReactBed, sessionId: string, App: () => ReactElement) {
  const queryClient = new QueryClient();
  await queryClient.prefetchQuery(historyQuery(orcha.supportAgent, sessionId, { pageSize: 3 }));
  const html = renderToString(withClient(queryClient, createElement(App)));
  return { html, state: JSON.stringify(dehydrate(queryClient)) };
}

test("a page that a server rendered is taken over as it is, and followed from where it was read", async () => {
  const server = serverOf();
  const browser = serverOf({}, server.store);
  const sessionId = await openedWith(server, 5);
  const { html, state } = await rendered(server, sessionId, appOf(server, sessionId).App);
  expect(html).toBe("<main>… <!-- -->2 3 4</main>");
  await say(server, sessionId, "said-meanwhile");

  const queryClient = new QueryClient();
  hydrate(queryClient, JSON.parse(state));
  const { App, renders } = appOf(browser, sessionId);
  const { container, faults } = hydrated(html, queryClient, createElement(App));
  await expect.poll(() => container.textContent).toBe("… 2 3 4 said-meanwhile");
  expect(renders[0]).toBe("success connecting: 2 3 4");
  expect(renders.some((shown) => shown.startsWith("pending"))).toBe(false);
  expect(faults).toEqual([]);
  expect([browser.numSent("history"), browser.numSent("tail")]).toEqual([0, 1]);
});

test("a page that a server renders once more, while a tail is at work, loses nothing", async () => {
  const bed = serverOf();
  const sessionId = await openedWith(bed, 5);
  const page = mount(() => useHistory(bed.orcha.supportAgent, sessionId, { pageSize: 3 }));
  await expect.poll(() => page.current.connection).toBe("live");
  const { state } = await rendered(bed, sessionId, appOf(bed, sessionId).App);
  await say(bed, sessionId, "a");
  await expect.poll(() => page.current.items.map(wordsOf).join(" ")).toBe("2 3 4 a");
  hydrate(page.queryClient, JSON.parse(state));
  const later = await rendered(bed, sessionId, appOf(bed, sessionId).App);
  await say(bed, sessionId, "b");
  hydrate(page.queryClient, JSON.parse(later.state));
  await say(bed, sessionId, "c");
  await expect.poll(() => page.current.items.map(wordsOf).slice(-3)).toEqual(["a", "b", "c"]);
});

test("with Suspense a component has its page from the start, and the same calls", async () => {
  const bed = serverOf();
  const sessionId = await openedWith(bed, 5);
  const { App, renders } = appOf(bed, sessionId, useSuspenseHistory);
  const container = document.createElement("div");
  const root = createRoot(container);
  onTestFinished(() => root.unmount());
  const queryClient = new QueryClient();
  root.render(withClient(queryClient, createElement(Suspense, { fallback: "wait" }, createElement(App), createElement(App))));
  await expect.poll(() => container.textContent).toBe("wait");
  await expect.poll(() => container.textContent).toBe("… 2 3 4… 2 3 4");
  await say(bed, sessionId, "5");
  await expect.poll(() => container.textContent).toBe("… 2 3 4 5… 2 3 4 5");
  expect(renders.every((shown) => shown.startsWith("success"))).toBe(true);
  expect([bed.numSent("history"), bed.numSent("tail")]).toEqual([1, 1]);
  // Read anew, it waits again, and is followed from there.
  void queryClient.resetQueries();
  await say(bed, sessionId, "6");
  await expect.poll(() => container.textContent).toContain("6… ");
  await say(bed, sessionId, "7");
  await expect.poll(() => container.textContent).toContain("6 7… ");
});

test("with Suspense what can't be read is thrown to the next boundary", async () => {
  class Boundary extends Component<{ children: ReactNode }, { code?: string }> {
    override state: { code?: string } = {};
    static getDerivedStateFromError(error: unknown): { code: string } {
      return { code: error instanceof Error && "code" in error ? String(error.code) : "" };
    }
    override render(): ReactNode {
      return this.state.code ?? this.props.children;
    }
  }
  const bed = serverOf();
  const container = document.createElement("div");
  const root = createRoot(container, { onCaughtError: () => {} });
  onTestFinished(() => root.unmount());
  const { App } = appOf(bed, "nowhere", useSuspenseHistory);
  root.render(withClient(new QueryClient(), createElement(Boundary, null, createElement(Suspense, { fallback: "wait" }, createElement(App)))));
  await expect.poll(() => container.textContent).toBe("session_not_found");
});

test("a list that a server rendered, or a persister kept, is read again page by page", async () => {
  const bed = serverOf();
  for (const name of ["a", "b", "c"]) await bed.orcha.supportAgent.create({ name });
  const onServer = new QueryClient();
  await onServer.prefetchInfiniteQuery(sessionsQuery(bed.orcha.supportAgent, { pageSize: 2 }));
  const queryClient = new QueryClient();
  hydrate(queryClient, JSON.parse(JSON.stringify(dehydrate(onServer))));
  await bed.orcha.supportAgent.create({ name: "d" });
  const list = mount(() => useSessions(bed.orcha.supportAgent, { pageSize: 2 }), { queryClient });
  const names = (): string => list.current.sessions.map(({ name }) => name).join(" ");
  await expect.poll(names).toBe("d c");
  await list.current.fetchMore();
  await expect.poll(names).toBe("d c b a");
  expect(list.current).toMatchObject({ status: "success", hasMore: false, error: undefined });
});

test("a list that a server rendered shows at once", async () => {
  const bed = serverOf();
  await openedWith(bed, 1);
  const onServer = new QueryClient();
  await onServer.prefetchInfiniteQuery(sessionsQuery(bed.orcha.supportAgent, { pageSize: 10 }));
  const queryClient = new QueryClient();
  hydrate(queryClient, JSON.parse(JSON.stringify(dehydrate(onServer))));
  function App(): ReactElement {
    const { sessions, status } = useSessions(bed.orcha.supportAgent, { pageSize: 10 });
    return createElement(Fragment, null, `${status} ${sessions.length}`);
  }
  expect(renderToString(withClient(queryClient, createElement(App)))).toBe("success 1");
});
