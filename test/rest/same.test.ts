import { isDeepStrictEqual } from "node:util";
import { contract, type OperationName } from "@orcha/contract";
import { describe, expect, test } from "vitest";
import { surroundings } from "../harness.ts";
import { describeStores } from "../stores.ts";
import { cases, implementations, seed, seedChild, type Case } from "./cases.ts";
import { bothOf, operations } from "./rest.ts";

/** An error without oRPC's envelope. */
function plain({ code, message, data }: Record<string, unknown>): object {
  return { code, message, ...(data as object) };
}

type Bed = Pick<ReturnType<typeof bothOf>, "rpc" | "rest"> & { seen: () => Promise<string[]> };

/** Whether both protocols say the same of a case: data, status, and the text itself. */
async function answersOf(left: Bed, right: Bed, operation: OperationName, { input, headers, code }: Case) {
  const byRpc = await left.rpc(operation, input, headers);
  const byRest = await right.rest(operation, input, headers);
  const success = contract[operation]["~orpc"].route.successStatus ?? 200;
  const enveloped = byRest.text === "" ? "{}" : `{"json":${byRest.text}}`;
  return {
    code: byRpc.status < 300 ? undefined : byRpc.json["code"],
    status: byRest.status === (code === undefined ? success : byRpc.status),
    json: isDeepStrictEqual(byRest.json, code === undefined ? byRpc.json : plain(byRpc.json)),
    // Not only the same data: the same text.
    text: code !== undefined || enveloped === byRpc.text,
  };
}

describeStores("by RPC and by REST alike", (make) => {
  /** Two stores with the same in them, where time stands still. */
  async function still(): Promise<Bed> {
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

  test.each(operations)("%s", { timeout: 30_000 }, async (operation) => {
    let pair: Promise<[Bed, Bed]> | undefined;
    const reads = contract[operation]["~orpc"].route.method === "GET";
    for (const one of cases[operation]) {
      // What changes nothing is tried where others were before it, and must leave everything as it was.
      const isQuiet = reads || one.code !== undefined;
      const [left, right] = await (isQuiet ? (pair ??= Promise.all([still(), still()])) : Promise.all([still(), still()]));
      const before = isQuiet ? await left.seen() : undefined;
      const name = `${operation}: ${one.name}`;
      expect({ name, ...(await answersOf(left, right, operation, one)) }).toEqual({ name, code: one.code, status: true, json: true, text: true });
      const after = await left.seen();
      expect({ name, seen: await right.seen() }).toEqual({ name, seen: after });
      expect({ name, seen: after }).toEqual({ name, seen: before ?? after });
    }
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
