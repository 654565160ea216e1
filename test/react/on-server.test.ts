import { useHistory, useRun, useSessions, useSuspenseHistory } from "@orcha/client/react";
import { QueryClient, QueryClientProvider } from "@tanstack/react-query";
import { createElement, Suspense, type ReactElement } from "react";
import { prerender } from "react-dom/static";
import { renderToString } from "react-dom/server";
import { expect, test } from "vitest";
import { openedWith, serverOf, wordsOf } from "./server.ts";

// There is no window here, as on a server.
const inClient = (...children: ReactElement[]): ReactElement =>
  createElement(QueryClientProvider, { client: new QueryClient() }, ...children);

test("a server renders the wait for what nobody prefetched, and opens no tail", async () => {
  expect("window" in globalThis).toBe(false);
  const bed = serverOf();
  const sessionId = await openedWith(bed, 2);
  function App(): ReactElement {
    const { status, connection } = useHistory(bed.orcha.supportAgent, sessionId);
    const { sessions } = useSessions(bed.orcha.supportAgent);
    const { isRunning } = useRun(bed.orcha.supportAgent);
    return createElement("p", null, [status, connection, sessions.length, isRunning].join(" "));
  }
  expect(renderToString(inClient(createElement(App)))).toBe("<p>pending connecting 0 false</p>");
  expect(bed.numSent("tail")).toBe(0);
});

test("with Suspense a server waits for the page while it renders, and opens no tail", async () => {
  const bed = serverOf();
  const sessionId = await openedWith(bed, 3);
  function App(): ReactElement {
    return createElement("p", null, useSuspenseHistory(bed.orcha.supportAgent, sessionId).items.map(wordsOf).join(" "));
  }
  const { prelude } = await prerender(inClient(createElement(Suspense, { fallback: "wait" }, createElement(App))));
  expect(await new Response(prelude).text()).toContain("<p>0 1 2</p>");
  expect([bed.numSent("history"), bed.numSent("tail")]).toEqual([1, 0]);
});
