import { createOrcha, OrchaError } from "@orcha/client";
import { memoryStore } from "@orcha/server";
import { expect, test } from "vitest";
import type { agents } from "../agents.ts";
import { appOf } from "../harness.ts";

/** A client whose token fails as a test says, and whose first tail is cut once it is ready. */
function failing(failures: readonly Error[]) {
  const { app } = appOf(memoryStore());
  const left = [...failures];
  let tails = 0;
  const orcha = createOrcha<typeof agents>({
    baseUrl: "http://orcha.test",
    retry: { minDelayMs: 1, maxDelayMs: 5 },
    token: async () => {
      const failure = tails > 0 ? left.shift() : undefined;
      if (failure) throw failure;
      return "token";
    },
    fetch: async (input, init) => {
      const response = await app.fetch(new Request(input, init));
      if (!response.headers.get("content-type")?.startsWith("text/event-stream") || (tails += 1) > 1) return response;
      const { value } = (await response.body?.getReader().read()) ?? {};
      return new Response(value, { headers: response.headers });
    },
  });
  return { orcha, left };
}

test("a tail asks for its token again where that can't be had for a while, as when a laptop wakes up", async () => {
  const { orcha, left } = failing(Array.from({ length: 5 }, () => new TypeError("fetch failed")));
  const { sessionId } = await orcha.supportAgent.create();
  const frames: string[] = [];
  for await (const { type } of orcha.supportAgent.tail(sessionId)) {
    frames.push(type);
    if (frames.length === 2) break;
  }
  expect(frames).toEqual(["ready", "ready"]);
  expect(left).toEqual([]);
});

test("a tail ends where its token says for good that there is none", async () => {
  const signedOut = new OrchaError("unauthorized", "signed out");
  const { orcha } = failing([signedOut]);
  const { sessionId } = await orcha.supportAgent.create();
  const frames = orcha.supportAgent.tail(sessionId)[Symbol.asyncIterator]();
  expect((await frames.next()).value).toMatchObject({ type: "ready" });
  await expect(frames.next()).rejects.toBe(signedOut);
});
