import { isPlainObject, type EventInput } from "@orcha/contract";
import type { Store } from "@orcha/server";
import { expect, test } from "vitest";
import { describeStores } from "../stores.ts";
import { bedOf, eventsOf, variables, type Bed, type Effects } from "./bed.ts";
import { brain, research, shapeOf } from "./journey.ts";
import { plugged, type Death } from "./plug.ts";

const content = "Where are A-1 and B-2?";
const answer = { toolResults: [{ callId: "call_ask", output: { approved: true } }] };

/** Calls go to the first server that is alive: a process that dies cuts its sockets. */
function behind(beds: readonly (Bed & { isDead: () => boolean })[]): typeof fetch {
  return async (input, init) => {
    const request = new Request(input, init);
    for (const { service, isDead } of beds) {
      if (isDead()) continue;
      const response = await Promise.race([service.app.fetch(request.clone()), death(isDead)]);
      if (response) return cutAtDeath(response, isDead);
    }
    throw new TypeError("nobody answers");
  };
}

async function death(isDead: () => boolean): Promise<undefined> {
  while (!isDead()) await new Promise((resolve) => setTimeout(resolve, 5));
  return undefined;
}

function cutAtDeath({ body, headers, status }: Response, isDead: () => boolean): Response {
  const reader = body?.getReader();
  const cut = new ReadableStream<Uint8Array>({
    async pull(sink) {
      const step = await Promise.race([reader?.read(), death(isDead)]);
      if (!step) sink.error(new Error("cut"));
      else if (step.done) sink.close();
      else sink.enqueue(step.value);
    },
  });
  return new Response(cut, { status, headers });
}

/** Lets the leases of a dead server run out at once: a clock would take those of the living, too, on a busy machine. */
async function bury(store: Store, sessionId: string): Promise<void> {
  const parent = { tenant: "default", agent: "supportAgent", sessionId };
  const bodies = (await store.events(parent, 1, 1000)) ?? [];
  const events = bodies.map((body): EventInput => JSON.parse(body));
  const children = events.flatMap(({ type, data }) => (type === "subagent.initiated" ? [{ ...parent, agent: data.agent, sessionId: data.sessionId }] : []));
  for (const ref of [parent, ...children]) {
    const lease = (await store.read(ref, []))?.lease;
    if (lease && lease.until > 0) await store.releaseLease(ref, lease.fence, "for others");
  }
}

/** Goes the whole way with a first server that may die on it, and a second one that doesn't. */
async function journey(store: Store, name: string, dying?: Death) {
  const sessionId = `ses_${name}`;
  const effects: Effects = new Map();
  const beds = [dying, undefined].map((fate) => {
    const plug = plugged(store, fate);
    const bed = bedOf(plug.store, { support: brain, researcher: research, effects, isDead: plug.isDead });
    return { ...bed, ...plug };
  });
  const [first, second] = beds as [(typeof beds)[0], (typeof beds)[0]];
  const over = new AbortController();
  const inheriting = (async () => {
    while (!first.isDead() && !over.signal.aborted) await new Promise((resolve) => setTimeout(resolve, 5));
    if (!first.isDead()) return;
    await bury(store, sessionId);
    await second.service.sweep();
  })();
  const { orcha } = bedOf(store, { client: { fetch: behind(beds), retry: { attempts: 40, minDelayMs: 10, maxDelayMs: 60 } } });
  const asked = orcha.supportAgent.run({ content, variables, sessionId }, { idempotencyKey: "first", signal: over.signal });
  expect(await asked.result).toMatchObject({ status: "waiting_for_client_action", run: 1 });
  const answered = orcha.supportAgent.resume(sessionId, answer, { idempotencyKey: "second", signal: over.signal });
  expect(await answered.result).toMatchObject({ status: "completed", run: 1, output: "Both are on their way, and refunded." });
  // The last write is of the evaluation, which comes when it comes.
  await expect.poll(() => first.isDead()).toBe(dying !== undefined);
  // An evaluation that a dead server had begun is waited for no longer.
  over.abort();
  await inheriting;
  const { items } = await orcha.supportAgent.history(sessionId);
  const events = await eventsOf(orcha, sessionId);
  return { shape: shapeOf(items), events, effects, writes: first.writes(), hasDied: first.isDead() };
}

describeStores("a server that dies at any write", (make) => {
  test("leaves a run that ends as if nothing had happened", { timeout: 120_000 }, async () => {
    const store = await make();
    const whole = await journey(store, "whole");
    expect(whole.shape).toMatchObject([
      { type: "message", role: "user" },
      { type: "action", callId: "call_a", status: "completed" },
      { type: "action", callId: "call_b", status: "completed" },
      { type: "subagent", callId: "call_sub", status: "completed" },
      { type: "client_action", callId: "call_ask", outcome: "answered" },
      { type: "message", role: "assistant" },
    ]);
    const deaths = Array.from({ length: whole.writes }, (_, index) => index + 1).flatMap((write): Death[] => [
      { write, when: "before" },
      { write, when: "after" },
    ]);
    expect(deaths.length).toBeGreaterThan(20);
    const journeys = deaths.map((dying) => async () => ({ dying, ...(await journey(store, `${dying.write}_${dying.when}`, dying)) }));
    // Some at a time: each mostly waits for the store.
    for (let from = 0; from < journeys.length; from += 16) {
      for (const { dying, shape, events, effects, hasDied } of await Promise.all(journeys.slice(from, from + 16).map((go) => go()))) {
        expect({ dying, shape, hasDied }).toEqual({ dying, shape: whole.shape, hasDied: true });
        expect(events.map(({ sequence }) => sequence)).toEqual(events.map((_, index) => index + 1));
        // An action without a stored result may have had its effect: it runs again under its key, once.
        for (const count of effects.values()) expect(count).toBeLessThanOrEqual(2);
        expect([...effects.values()].filter((count) => count > 1).length).toBeLessThanOrEqual(1);
        for (const callId of ["call_a", "call_b"]) {
          const of = (type: string) => events.filter((event) => event.type === type && isPlainObject(event.data) && event.data["callId"] === callId);
          expect([of("action.requested").length, of("action.completed").length]).toEqual([1, 1]);
        }
      }
    }
  });
});
