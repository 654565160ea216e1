import type { Store } from "@orcha/server";
import { expect, test } from "vitest";
import { surroundings } from "../harness.ts";
import { describeStores } from "../stores.ts";
import { bedOf, eventsOf, variables, type BedOptions, type RunClient } from "./bed.ts";
import { plugged } from "./plug.ts";

const good = { groundedness: { score: 0.9, reasoning: "It says what it knows." } };
const poor = { groundedness: { score: 0.1, reasoning: "It guesses." } };

/** How long an outcome is waited for before its server is taken for gone, in milliseconds: its time, and half a minute. */
const expiryMs = 90_000;

/** Servers on one store, with one clock; each can be killed. */
function world(store: Store) {
  const clock = surroundings();
  function server(quality: BedOptions["quality"]) {
    const { store: plug, kill, isDead } = plugged(store);
    return { ...bedOf(plug, { isDead, support: [{ text: "Hello." }], ...(quality ? { quality } : {}), app: { surroundings: clock } }), kill };
  }
  return { clock, server };
}

/** Of the log, what there is of evaluations. */
async function judging(orcha: RunClient, sessionId: string) {
  const events = await eventsOf(orcha, sessionId);
  return events.flatMap((event) => ("run" in event && event.type.startsWith("evaluation.") ? [{ type: event.type, run: event.run, data: event.data }] : []));
}

async function forEver(): Promise<never> {
  return new Promise(() => {});
}

describeStores("an evaluation", (make) => {
  test.each(["judges", "fails"])("%s though the clock is put back meanwhile", async (how) => {
    const { clock, server } = world(await make());
    const { orcha, service } = server(async () => {
      clock.advance(-3_600_000);
      if (how === "fails") throw new Error("no judge");
      return good;
    });
    const run = orcha.supportAgent.run({ content: "Hi", variables });
    await run.result;
    expect(await run.evaluations).toMatchObject([{ status: how === "fails" ? "error" : "passed", durationMs: 0 }]);
    const { items } = await orcha.supportAgent.history(run.sessionId);
    expect(items.map(({ type }) => type)).toEqual(["message", "message", "evaluation"]);
    // What has its outcome is not asked for again.
    clock.advance(3_600_000 + expiryMs);
    await service.sweep();
    expect(await judging(orcha, run.sessionId)).toHaveLength(2);
  });

  test("whose server died is made by another one, once", async () => {
    const { clock, server } = world(await make());
    const one = server(forEver);
    const { sessionId, result } = one.orcha.supportAgent.run({ content: "Hi", variables });
    await result;
    one.kill();
    const judged: string[] = [];
    const others = [1, 2].map(() =>
      server(async ({ output, messages }) => {
        judged.push(`${String(output)} ${messages.length}`);
        return good;
      }),
    );
    const sweep = () => Promise.all(others.map(({ service }) => service.sweep()));
    const [two] = others as [(typeof others)[0]];
    await sweep();
    expect(await judging(two.orcha, sessionId)).toMatchObject([{ type: "evaluation.requested", run: 1, data: { name: "response_quality" } }]);
    // The conversation goes on meanwhile; what is judged is the run.
    await two.orcha.supportAgent.resume(sessionId, "And now?").evaluations;
    clock.advance(expiryMs);
    await sweep();
    await expect.poll(async () => (await judging(two.orcha, sessionId)).length).toBe(5);
    await sweep();
    expect((await judging(two.orcha, sessionId)).filter(({ run }) => run === 1)).toMatchObject([
      { type: "evaluation.requested" },
      { type: "evaluation.requested", data: { attempt: 2 } },
      { type: "evaluation.completed", data: { status: "passed" } },
    ]);
    expect(judged).toEqual(["Hello. 4", "Hello. 2"]);
    const { items } = await two.orcha.supportAgent.history(sessionId);
    expect(items.filter(({ type }) => type === "evaluation")).toHaveLength(2);
  });

  test("that takes its server down each time has failed after three", async () => {
    const { clock, server } = world(await make());
    const first = server(forEver);
    const { sessionId, result } = first.orcha.supportAgent.run({ content: "Hi", variables });
    await result;
    first.kill();
    for (let times = 0; times < 3; times += 1) {
      clock.advance(expiryMs);
      const next = server(forEver);
      await next.service.sweep();
      next.kill();
    }
    const last = server(async () => good);
    expect((await judging(last.orcha, sessionId)).map(({ type }) => type)).toEqual([
      "evaluation.requested",
      "evaluation.requested",
      "evaluation.requested",
      "evaluation.failed",
    ]);
    expect((await judging(last.orcha, sessionId)).at(-1)).toMatchObject({
      data: { error: { code: "evaluation_failed", message: "it was begun 3 times, and its server went away each time" } },
    });
    clock.advance(expiryMs);
    await last.service.sweep();
    expect(await judging(last.orcha, sessionId)).toHaveLength(4);
  });

  test("has one outcome, also where a server was only slow", async () => {
    const { clock, server } = world(await make());
    const { promise: scores, resolve } = Promise.withResolvers<typeof poor>();
    const slow = server(() => scores);
    const run = slow.orcha.supportAgent.run({ content: "Hi", variables });
    await run.result;
    clock.advance(expiryMs);
    const quick = server(async () => good);
    await quick.service.sweep();
    await expect.poll(async () => (await judging(quick.orcha, run.sessionId)).length).toBe(3);
    resolve(poor);
    await run.evaluations;
    expect(await judging(quick.orcha, run.sessionId)).toMatchObject([{}, { data: { attempt: 2 } }, { type: "evaluation.completed", data: { status: "passed" } }]);
  });

  test("that a server can't wait for when it ends is left to another one", async () => {
    const { clock, server } = world(await make());
    const one = server(forEver);
    const run = one.orcha.supportAgent.run({ content: "Hi", variables });
    await run.result;
    await one.service.drain(0);
    const two = server(async () => good);
    expect(await judging(two.orcha, run.sessionId)).toMatchObject([{ type: "evaluation.requested" }]);
    clock.advance(expiryMs);
    await two.service.sweep();
    await expect.poll(async () => (await judging(two.orcha, run.sessionId)).length).toBe(3);
  });

  test("that is quick is waited for by a server that ends", async () => {
    const { server } = world(await make());
    const one = server(async () => {
      await new Promise((resolve) => setTimeout(resolve, 100));
      return good;
    });
    const run = one.orcha.supportAgent.run({ content: "Hi", variables });
    await run.result;
    await one.service.drain(5000);
    const two = server(undefined);
    expect(await judging(two.orcha, run.sessionId)).toMatchObject([{}, { type: "evaluation.completed" }]);
  });

  test("of a copy ends as cancelled: the copied run is judged where it ran", async () => {
    const { server } = world(await make());
    const one = server(forEver);
    const run = one.orcha.supportAgent.run({ content: "Hi", variables });
    await run.result;
    const copy = await one.orcha.supportAgent.fork(run.sessionId);
    expect(await judging(one.orcha, copy.sessionId)).toMatchObject([{ run: 1 }, { type: "evaluation.failed", run: 1, data: { error: { code: "cancelled" } } }]);
    expect(await judging(one.orcha, run.sessionId)).toMatchObject([{ type: "evaluation.requested" }]);
  });
});
