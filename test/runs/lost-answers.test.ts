import { OrchaError } from "@orcha/contract";
import type { Store } from "@orcha/server";
import { expect, test } from "vitest";
import { describeStores } from "../stores.ts";
import { bedOf, eventsOf, typesOf, variables } from "./bed.ts";
import { brain, research } from "./journey.ts";

const answer = { toolResults: [{ callId: "call_ask", output: { approved: true } }] };

async function journey(store: Store) {
  const { orcha, effects } = bedOf(store, { support: brain, researcher: research });
  const run = orcha.supportAgent.run({ content: "Where are A-1 and B-2?", variables });
  expect(await run.result).toMatchObject({ status: "waiting_for_client_action", pendingClientActions: [{ callId: "call_ask" }] });
  await orcha.supportAgent.update(run.sessionId, { name: "Two orders" });
  expect(await orcha.supportAgent.resume(run.sessionId, answer).result).toMatchObject({ status: "completed" });
  const types = (await typesOf(orcha, run.sessionId)).filter((type) => !type.startsWith("evaluation."));
  const sequences = (await eventsOf(orcha, run.sessionId)).map(({ sequence }) => sequence);
  return { types, sequences, effects: [...effects.values()] };
}

describeStores("a database that writes what a run says, and whose answer is lost", (make) => {
  test("has it once", async () => {
    const whole = await journey(await make());
    const store = await make();
    const append = store.append.bind(store);
    store.append = async (ref, lookups, decide, condition) => {
      const done = await append(ref, lookups, decide, condition);
      if (condition?.fence !== undefined && done) throw new OrchaError("storage_error", "the connection to the database broke off");
      return done;
    };
    const { types, sequences, effects } = await journey(store);
    expect(types).toEqual(whole.types);
    expect(effects).toEqual(whole.effects);
    expect(sequences).toEqual(sequences.map((_, index) => index + 1));
  });

  test("has it once, where it comes to be written only when it is tried again", async () => {
    const whole = await journey(await make());
    const store = await make();
    const append = store.append.bind(store);
    let late: (() => Promise<unknown>) | undefined;
    store.append = async (ref, lookups, decide, condition) => {
      if (condition?.fence === undefined) return append(ref, lookups, decide, condition);
      if (late) {
        const [write] = [late];
        late = undefined;
        await write();
        return append(ref, lookups, decide, condition);
      }
      // As it was decided, and not yet written.
      const current = await store.read(ref, lookups);
      const decided = current && decide(current);
      late = () => append(ref, lookups, () => decided ?? { result: undefined }, condition);
      throw new OrchaError("storage_error", "the database did not answer in time");
    };
    const { types, effects } = await journey(store);
    expect(types).toEqual(whole.types);
    expect(effects).toEqual(whole.effects);
  });
});

describeStores("a call that two servers get at once", (make) => {
  test("is one run, also where the slower one looks for it before it is there", async () => {
    const store = await make();
    const { promise: asked, resolve: ask } = Promise.withResolvers<void>();
    const { promise: said, resolve: say } = Promise.withResolvers<{ text: string }>();
    const one = bedOf(store, { support: [{ text: "Hello." }, () => (ask(), said)] });
    const slow: Store = Object.create(store, {
      findReceipt: {
        value: async (...wanted: Parameters<Store["findReceipt"]>) => {
          const found = await store.findReceipt(...wanted);
          if (!found) await asked;
          return found;
        },
      },
    });
    const two = bedOf(slow, { client: { retry: { attempts: 1 } } });
    const { sessionId, result } = one.orcha.supportAgent.run({ content: "Hi", variables });
    await result;
    const both = [two, one].map(({ orcha }) => orcha.supportAgent.resume(sessionId, "And?", { idempotencyKey: "k" }));
    await asked;
    const refused = await Promise.race([both[0]?.result, new Promise((resolve) => setTimeout(resolve, 300))]);
    say({ text: "Well." });
    const answered = { status: "completed", run: 2, output: "Well." };
    expect([refused, ...(await Promise.all(both.map((execution) => execution.result)))]).toMatchObject([undefined, answered, answered]);
  });
});
