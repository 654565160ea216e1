import type { Store } from "@orcha/server";
import { expect, test } from "vitest";
import { surroundings } from "../harness.ts";
import { describeStores } from "../stores.ts";
import { bedOf, variables } from "./bed.ts";

/** Holds a store's lease renewals up until they are let through. */
function holdRenewals(store: Store) {
  const { promise: asked, resolve: ask } = Promise.withResolvers<void>();
  const { promise: open, resolve: letThrough } = Promise.withResolvers<void>();
  const { promise: arrived, resolve: arrive } = Promise.withResolvers<void>();
  const take = store.takeLease.bind(store);
  store.takeLease = async (...wanted) => {
    ask();
    await open;
    return take(...wanted).finally(arrive);
  };
  return {
    asked,
    letThrough: () => {
      letThrough();
      return arrived;
    },
  };
}

const ask = { callId: "call_ask", name: "ask_expert", arguments: { question: "Why?" } };

describeStores("a lease that is renewed as its run ends", (make) => {
  test("holds up nobody who goes on with the session", async () => {
    const store = await make();
    const { asked, letThrough } = holdRenewals(store);
    const support = [() => asked.then(() => ({ text: "Hello." })), { text: "Again." }];
    const { orcha } = bedOf(store, { support, app: { leaseMs: 400 }, client: { retry: { attempts: 1 } } });
    const run = orcha.supportAgent.run({ content: "Hi", variables });
    expect(await run.result).toMatchObject({ status: "completed" });
    await letThrough();
    expect(await orcha.supportAgent.resume(run.sessionId, "Hi again").result).toMatchObject({ status: "completed", output: "Again." });
  });

  test("lets a run wait for a person as long as it takes", async () => {
    const store = await make();
    const { asked, letThrough } = holdRenewals(store);
    const clock = surroundings();
    const support = [() => asked.then(() => ({ toolCalls: [ask] })), { text: "Done." }];
    const { orcha, service } = bedOf(store, { researcher: support, app: { leaseMs: 400, surroundings: clock } });
    const run = orcha.researcher.run("Find out");
    expect(await run.result).toMatchObject({ status: "waiting_for_client_action" });
    await letThrough();
    for (let lease = 0; lease < 12; lease += 1) {
      clock.advance(401);
      await service.sweep();
      await expect.poll(async () => (await orcha.researcher.get(run.sessionId)).runStatus).toBe("waiting_for_client_action");
    }
    const answered = await orcha.researcher.resume(run.sessionId, { toolResults: [{ callId: "call_ask", output: "Because." }] }).result;
    expect(answered).toMatchObject({ status: "completed", output: "Done." });
  });
});
