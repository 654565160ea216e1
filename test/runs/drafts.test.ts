import type { ScriptEntry } from "@orcha/agent/testing";
import type { Store } from "@orcha/server";
import { expect, test } from "vitest";
import { describeStores } from "../stores.ts";
import { bedOf, variables } from "./bed.ts";
import { plugged } from "./plug.ts";
import { toldNow } from "./told-now.ts";

const sessionId = "ses_draft";
const ref = { tenant: "default", agent: "supportAgent", sessionId };
const input = { content: "Where is A-1?", variables, sessionId };

/** Says what is stored as a draft before it is whole, and then acts. */
const talk: ScriptEntry = { text: "Let me look that up for you.", chunkSize: 5, delayMs: 120, toolCalls: [{ name: "lookup_order", arguments: { orderId: "A-1" } }] };

/** Puts a server's death right behind the write that logs the answer, whose draft is stored by then. */
async function diedWithAnswer(store: Store) {
  const stored: string[] = [];
  const watched = new Proxy(store, {
    get(target, key, receiver): unknown {
      if (key !== "saveDraft") return Reflect.get(target, key, receiver);
      return (...[of, draft]: Parameters<Store["saveDraft"]>) => {
        stored.push(draft.body);
        return target.saveDraft(of, draft);
      };
    },
  });
  const plug = plugged(watched, { write: 2, when: "after" });
  const one = bedOf(plug.store, { support: [talk], isDead: plug.isDead });
  one.orcha.supportAgent.run(input, { idempotencyKey: "k" }).result.catch(() => {});
  await expect.poll(() => plug.isDead()).toBe(true);
  expect(stored[0]).toMatch(/Let/);
}

describeStores("an answer that is in the log", (make) => {
  test("is not told as in the making, though its server died right after that write", async () => {
    const store = await make();
    await diedWithAnswer(store);
    const two = bedOf(store);
    expect(await store.draft(ref)).toBeUndefined();
    expect(await toldNow(two.orcha, sessionId)).toEqual(["ready", "snapshot"]);
  });

  test("nor to who listens on another server", async () => {
    const store = await make();
    await diedWithAnswer(store);
    const looked = Promise.withResolvers<void>();
    const watched = new Proxy(plugged(store).store, {
      get(target, key, receiver): unknown {
        if (key === "draft") looked.resolve();
        return Reflect.get(target, key, receiver);
      },
    });
    const two = bedOf(watched);
    const run = two.orcha.supportAgent.run(input, { idempotencyKey: "k" });
    const heard: string[] = [];
    const listening = (async () => {
      for await (const frame of run.stream) heard.push(frame.status);
    })();
    await looked.promise;
    await two.orcha.supportAgent.stop(sessionId);
    await listening;
    expect(heard).toEqual(["stopped"]);
  });

  test("takes the draft with it that is being stored meanwhile", async () => {
    const store = await make();
    const saving = Promise.withResolvers<void>();
    const saved = Promise.withResolvers<void>();
    const slow = new Proxy(plugged(store).store, {
      get(target, key, receiver): unknown {
        if (key !== "saveDraft") return Reflect.get(target, key, receiver);
        return async (...given: Parameters<Store["saveDraft"]>) => {
          saving.resolve();
          await saved.promise;
          return store.saveDraft(...given);
        };
      },
    });
    const speaks: ScriptEntry = async () => ({ ...talk, delayMs: 100 });
    const { orcha, models } = bedOf(slow, { support: [speaks, { text: "Lost.", delayMs: 60_000 }] });
    const run = orcha.supportAgent.run(input);
    await saving.promise;
    // The answer is whole, and waits for the draft that is on its way.
    for await (const frame of run.stream) if (frame.status === "streaming" && frame.output.endsWith("you.")) break;
    saved.resolve();
    await expect.poll(() => models.supportAgent.requests.length).toBe(2);
    expect(await store.draft(ref)).toBeUndefined();
    await orcha.supportAgent.stop(sessionId);
  });
});
