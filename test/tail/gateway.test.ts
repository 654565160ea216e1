import { createOrcha } from "@orcha/client";
import { memoryStore } from "@orcha/server";
import { expect, test } from "vitest";
import type { agents } from "../agents.ts";
import { appOf } from "../harness.ts";

const gateways: readonly [name: string, answer: () => Response][] = [
  ["a development server's proxy", () => new Response(null, { status: 500, headers: { "content-type": "text/plain" } })],
  ["a CDN", () => new Response("<html>Connection timed out</html>", { status: 522, headers: { "content-type": "text/html" } })],
  ["a CDN that counts requests", () => new Response("slow down", { status: 429, headers: { "content-type": "text/plain" } })],
  ["a cloud's gateway", () => Response.json({ message: "Internal server error" }, { status: 500 })],
];

test.each(gateways)("a tail outlives a server that restarts behind %s", async (_name, answer) => {
  const { app } = appOf(memoryStore());
  let tails = 0;
  const orcha = createOrcha<typeof agents>({
    baseUrl: "http://orcha.test",
    retry: { minDelayMs: 1, maxDelayMs: 5 },
    fetch: async (input, init) => {
      const request = new Request(input, init);
      if (!request.url.endsWith("/tail")) return app.fetch(request);
      tails += 1;
      if (tails > 1 && tails < 8) return answer();
      const response = await app.fetch(request);
      if (tails > 1) return response;
      const { value } = (await response.body?.getReader().read()) ?? {};
      return new Response(value, { headers: response.headers });
    },
  });
  const { sessionId } = await orcha.supportAgent.create();
  const lost: string[] = [];
  const frames: string[] = [];
  for await (const { type } of orcha.supportAgent.tail(sessionId, { onDisconnect: ({ code }) => lost.push(code) })) {
    frames.push(type);
    if (frames.length === 2) break;
  }
  expect(frames).toEqual(["ready", "ready"]);
  expect(new Set(lost)).toEqual(new Set(["network"]));
  expect(lost).toHaveLength(7);
});
