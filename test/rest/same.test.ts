import { contract } from "@orcha/contract";
import { describe, expect, test } from "vitest";
import { surroundings } from "../harness.ts";
import { describeStores } from "../stores.ts";
import { cases, implementations, seed, seedChild } from "./cases.ts";
import { bothOf, operations } from "./rest.ts";

/** An error without oRPC's envelope. */
function plain({ code, message, data }: Record<string, unknown>): object {
  return { code, message, ...(data as object) };
}

const all = operations.flatMap((operation) => cases[operation].map((one) => [operation, one.name, one] as const));

describeStores("by RPC and by REST alike", (make) => {
  /** Two stores with the same in them, where time stands still. */
  async function still() {
    const store = await make();
    const { rpc, rest } = bothOf(store, { surroundings: surroundings(), implementations });
    await seed(rpc);
    await seedChild(store);
    async function seen(): Promise<string[]> {
      const lists = await Promise.all(["supportAgent", "researcher"].map((agent) => rpc("list", { agent })));
      const logs = await Promise.all(["ses_1", "empty", "done"].map((sessionId) => rpc("events", { agent: "supportAgent", sessionId })));
      return [...lists, ...logs].map(({ text }) => text);
    }
    return { rpc, rest, seen };
  }

  test.each(all)("%s: %s", async (operation, _name, { input, headers, code }) => {
    const [left, right] = await Promise.all([still(), still()]);
    const byRpc = await left.rpc(operation, input, headers);
    const byRest = await right.rest(operation, input, headers);
    expect(byRpc.status < 300 ? undefined : byRpc.json["code"]).toBe(code);
    const success = contract[operation]["~orpc"].route.successStatus ?? 200;
    expect(byRest.status).toBe(code === undefined ? success : byRpc.status);
    expect(byRest.json).toEqual(code === undefined ? byRpc.json : plain(byRpc.json));
    // Not only the same data: the same text.
    const enveloped = byRest.text === "" ? "{}" : `{"json":${byRest.text}}`;
    expect(code === undefined ? enveloped : byRpc.text).toBe(byRpc.text);
    expect(await right.seen()).toEqual(await left.seen());
  });

  test.each(["create", "restore", "append", "run", "resume", "pause", "stop", "update", "complete", "fork", "delete"] as const)(
    "%s under a key is one write, by whichever protocol it is repeated",
    async (operation) => {
      const { rpc, rest, seen } = await still();
      const [{ input } = { input: {} }] = cases[operation];
      const key = { "idempotency-key": "once" };
      const first = await rest(operation, input, key);
      const after = await seen();
      const again = await rpc(operation, input, key);
      expect(first.status).toBeLessThan(300);
      expect(again.json).toEqual(first.json);
      expect((await rest(operation, input, key)).text).toBe(first.text);
      expect(await seen()).toEqual(after);
    },
  );
});

describe("operations that share a route", () => {
  test("share their scope, since the body is read after it", () => {
    const scopes = new Map<string, Set<string>>();
    for (const operation of operations) {
      const { route, meta } = contract[operation]["~orpc"];
      const key = `${route.method} ${route.path}`;
      scopes.set(key, (scopes.get(key) ?? new Set()).add(meta.scope));
    }
    expect([...scopes].filter(([, found]) => found.size > 1)).toEqual([]);
  });
});
