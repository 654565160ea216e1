import { memoryStore, exportSessionLog, exportSessions } from "@orcha/server";
import fc from "fast-check";
import { expect, test } from "vitest";
import { agents } from "../agents.ts";
import { eventLogs, logOf } from "../arbitraries.ts";
import { describeStores } from "../stores.ts";
import { textOf } from "../formats/reading.ts";
import { admin, everythingOf, listed, load, put, refOf } from "./sessions.ts";

/** A log of many pieces: what several others hold, one behind the other. */
function longLog() {
  const logs = fc.sample(eventLogs(), { numRuns: 200, seed: 42 });
  return logOf(logs.flatMap((events) => events.slice(1).filter(({ type }) => type !== "session.completed")));
}

describeStores("export and import", (make) => {
  test("give equal histories, events and messages, pinned pages included", async () => {
    const store = await make();
    let count = 0;
    await fc.assert(
      fc.asyncProperty(eventLogs(), async (events) => {
        const ref = refOf(`ses_${(count += 1)}`);
        const source = memoryStore();
        await put(source, ref, events);
        const bundle = await textOf(exportSessions({ agents, store: source }, admin, { agent: ref.agent }));
        const report = await load(store, bundle);
        expect(report.sessions).toEqual([{ agent: ref.agent, sessionId: ref.sessionId, events: events.length }]);
        expect(await everythingOf(store, ref)).toEqual(await everythingOf(source, ref));
      }),
      { numRuns: 40 },
    );
  });

  test("of a log of several pieces", async () => {
    const events = longLog();
    expect(events.length).toBeGreaterThan(1100);
    const [source, store, ref] = [memoryStore(), await make(), refOf("ses_test")];
    await put(source, ref, events);
    const report = await load(store, await textOf(exportSessionLog({ agents, store: source }, admin, ref)));
    expect(report).toMatchObject({ format: "session-log", events: events.length });
    expect(await everythingOf(store, ref)).toEqual(await everythingOf(source, ref));
    // And out of this store again: the same bytes.
    expect(await textOf(exportSessionLog({ agents, store }, admin, ref))).toBe(await textOf(exportSessionLog({ agents, store: source }, admin, ref)));
  });

  test("bring delegated children along, and hide them as before", async () => {
    const [source, store] = [memoryStore(), await make()];
    const child = { callId: "c1", agent: "researcher", sessionId: "ses_child" };
    await put(source, refOf("ses_test"), logOf([{ type: "subagent.initiated", data: child }]));
    const lineage = { origin: "delegated" as const, parentAgent: "supportAgent", parentSessionId: "ses_test", parentCallId: "c1" };
    const [created] = logOf([]);
    const opening = { ...created, data: { ...created?.data, metadata: { customerId: "c" }, lineage } };
    await put(source, refOf("ses_child", "researcher"), [opening as typeof created & object]);
    const report = await load(store, await textOf(exportSessions({ agents, store: source }, admin, { agent: "supportAgent" })));
    expect(report.sessions.map(({ sessionId }) => sessionId)).toEqual(["ses_test", "ses_child"]);
    expect(await listed(store, "researcher")).toEqual([]);
    const childRef = refOf("ses_child", "researcher");
    expect(await everythingOf(store, childRef)).toEqual(await everythingOf(source, childRef));
    await store.delete(refOf("ses_test"), 1);
    expect(await store.snapshot(childRef)).toBeUndefined();
  });

  test("keep metadata findable, and go on taking events", async () => {
    const [source, store] = [memoryStore(), await make()];
    await put(source, refOf("ses_test"), logOf([{ type: "session.updated", data: { metadata: { plan: "gold" } } }]));
    await load(store, await textOf(exportSessions({ agents, store: source }, admin, { agent: "supportAgent" })));
    const found = await store.list({ tenant: "acme", agent: "supportAgent", metadata: { plan: "gold" }, limit: 5 });
    expect(found).toHaveLength(1);
    await store.delete(refOf("ses_test"), 1);
    expect(await store.list({ tenant: "acme", agent: "supportAgent", metadata: { plan: "gold" }, limit: 5 })).toEqual([]);
  });
});
