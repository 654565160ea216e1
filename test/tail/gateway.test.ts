import { createOrcha } from "@orcha/client";
import { memoryStore } from "@orcha/server";
import { expect, test } from "vitest";
import type { agents } from "../agents.ts";
import { appOf } from "../harness.ts";

/** A client whose tails meet something else than the server, from one connection on, so many times. */
function behind(answer: () => Response, { from, times }: { from: number; times: number }) {
  const { app } = appOf(memoryStore());
  let tails = 0;
  const orcha = createOrcha<typeof agents>({
    baseUrl: "http://orcha.test",
    retry: { minDelayMs: 1, maxDelayMs: 5 },
    fetch: async (input, init) => {
      const request = new Request(input, init);
      if (!request.url.endsWith("/tail")) return app.fetch(request);
      tails += 1;
      if (tails >= from && tails < from + times) return answer();
      const response = await app.fetch(request);
      if (tails > 1) return response;
      // The first one is cut as soon as it is ready.
      const { value } = (await response.body?.getReader().read()) ?? {};
      return new Response(value, { headers: response.headers });
    },
  });
  return { orcha, numTails: () => tails };
}

const page = (status: number) => () => new Response("<html></html>", { status, headers: { "content-type": "text/html" } });

const gateways: readonly [name: string, answer: () => Response, code: string][] = [
  ["a development server's proxy", () => new Response(null, { status: 500, headers: { "content-type": "text/plain" } }), "network"],
  ["a CDN", page(522), "network"],
  ["a CDN that counts requests", () => new Response("slow down", { status: 429, headers: { "content-type": "text/plain" } }), "network"],
  ["a cloud's gateway", () => Response.json({ message: "Internal server error" }, { status: 500 }), "network"],
  ["a proxy that forgets servers which are away", () => new Response("404 page not found\n", { status: 404, headers: { "content-type": "text/plain" } }), "unexpected"],
  ["a page for those who are offline", page(200), "unexpected"],
];

test.each(gateways)("a tail outlives a server that restarts behind %s", async (_name, answer, code) => {
  const { orcha } = behind(answer, { from: 2, times: 6 });
  const { sessionId } = await orcha.supportAgent.create();
  const lost: string[] = [];
  const frames: string[] = [];
  for await (const { type } of orcha.supportAgent.tail(sessionId, { onDisconnect: (error) => lost.push(error.code) })) {
    frames.push(type);
    if (frames.length === 2) break;
  }
  expect(frames).toEqual(["ready", "ready"]);
  expect(lost).toEqual(["network", ...Array.from({ length: 6 }, () => code)]);
});

test("a tail that never met its server tells so at once, and one whose server stays away in the end", async () => {
  const first = behind(page(404), { from: 1, times: Infinity });
  const { sessionId } = await first.orcha.supportAgent.create();
  await expect(first.orcha.supportAgent.tail(sessionId)[Symbol.asyncIterator]().next()).rejects.toMatchObject({ code: "unexpected" });
  expect(first.numTails()).toBe(1);

  const later = behind(page(302), { from: 2, times: Infinity });
  const session = await later.orcha.supportAgent.create();
  const frames = later.orcha.supportAgent.tail(session.sessionId)[Symbol.asyncIterator]();
  expect((await frames.next()).value).toMatchObject({ type: "ready" });
  await expect(frames.next()).rejects.toMatchObject({ code: "unexpected" });
  expect(later.numTails()).toBeGreaterThan(20);
});
