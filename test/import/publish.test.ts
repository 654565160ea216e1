import type { SessionRef } from "@orcha/server";
import { expect, test } from "vitest";
import { logOf } from "../arbitraries.ts";
import { codeOf } from "../harness.ts";
import { describeStores } from "../stores.ts";
import { put } from "./sessions.ts";

const staged = (sessionId: string): SessionRef => ({ tenant: "\u0001import", agent: "staged", sessionId });
const named = (sessionId: string): SessionRef => ({ tenant: "acme", agent: "supportAgent", sessionId });

describeStores("publish", (make) => {
  test("renames all or none", async () => {
    const store = await make();
    for (const id of ["1", "2"]) await put(store, staged(id), logOf([]));
    await put(store, named("ses_2"), logOf([]));
    const moves = ["1", "2"].map((id) => ({ from: staged(id), to: named(`ses_${id}`) }));
    expect(await codeOf(store.publish(moves))).toBe("session_exists");
    expect(await store.snapshot(named("ses_1"))).toBeUndefined();
    expect(await store.snapshot(staged("1"))).toBeDefined();
    await store.publish(moves.slice(0, 1));
    expect(await store.snapshot(named("ses_1"))).toBeDefined();
    expect(await store.snapshot(staged("1"))).toBeUndefined();
  });

  test("never gives a name that was deleted, one name twice, or a name to nothing", async () => {
    const store = await make();
    for (const id of ["1", "2"]) await put(store, staged(id), logOf([]));
    await put(store, named("ses_1"), logOf([]));
    await store.delete(named("ses_1"), 1);
    expect(await codeOf(store.publish([{ from: staged("1"), to: named("ses_1") }]))).toBe("session_exists");
    const twice = ["1", "2"].map((id) => ({ from: staged(id), to: named("ses_9") }));
    expect(await codeOf(store.publish(twice))).toBe("session_exists");
    expect(await codeOf(store.publish([{ from: staged("3"), to: named("ses_3") }]))).toBe("session_not_found");
  });

  test("takes the lease away, and writes go on under the new name only", async () => {
    const store = await make();
    await put(store, staged("1"), logOf([]));
    await store.takeLease(staged("1"), { owner: "a", until: 9_000_000_000_000, now: 1 });
    await store.append(staged("1"), [], () => ({ result: 1 }));
    await store.publish([{ from: staged("1"), to: named("ses_1") }]);
    expect((await store.read(named("ses_1"), []))?.lease).toBeUndefined();
    expect(await store.append(staged("1"), [], () => ({ result: 1 }))).toBeUndefined();
    expect(await store.append(named("ses_1"), [], ({ view }) => ({ result: view.snapshot.sequence }))).toEqual({ result: 1 });
  });
});
