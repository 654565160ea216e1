import { createSessions, memoryStore, type Sessions } from "@orcha/server";
import fc from "fast-check";
import { describe, expect, test, vi } from "vitest";
import { agents } from "../agents.ts";
import { codeOf, surroundings } from "../harness.ts";
import { temporarySchemas } from "../stores.ts";
import { beside, call, completed, name, ref, requested, said, sequencesOf, tracedStore, upTo } from "./postgres-bed.ts";

const schemas = temporarySchemas();

describe("two servers on one schema", () => {
  test("64 writers at once on one session and on many: no hole, no double", { timeout: 60_000 }, async () => {
    const schema = schemas();
    const servers = [await tracedStore(schema), await tracedStore(schema)] as const;
    const refs = upTo(8).map((index) => ({ ...ref, sessionId: `many${index}` }));
    for (const { agent, sessionId } of [ref, ...refs]) await servers[0].sessions.writing.create(call, { agent, sessionId });
    const writes = upTo(64).flatMap((index) => {
      const { writing } = servers[index % 2 === 0 ? 0 : 1].sessions;
      const many = refs[index % refs.length] ?? ref;
      return [
        writing.append(call, { ...name, events: [said(`one ${index}`)] }),
        writing.append(call, { agent: ref.agent, sessionId: many.sessionId, events: [said(`a ${index}`), said(`b ${index}`)] }),
      ];
    });
    const receipts = await Promise.all(writes);
    expect(receipts).toHaveLength(128);
    for (const { store } of servers) {
      expect(await sequencesOf(store)).toEqual(upTo(65));
      for (const many of refs) expect(await sequencesOf(store, many)).toEqual(upTo(17));
    }
    expect(new Set(receipts.filter(({ sessionId }) => sessionId === "s").map(({ firstSequence }) => firstSequence)).size).toBe(64);
  });

  test("heads that fall behind are never written on, nor judged by", { timeout: 60_000 }, async () => {
    const inputs = [said("hi"), ...["x", "y", "z"].flatMap((callId) => [requested(callId), completed(callId)])];
    const step = fc.record({
      server: fc.nat(1),
      events: fc.array(fc.constantFrom(...inputs), { minLength: 1, maxLength: 3 }),
      /** How far the expected sequence is behind. */
      behind: fc.option(fc.nat(1), { nil: undefined, freq: 4 }),
    });
    const { now } = surroundings();
    const schema = schemas();
    const servers = await Promise.all(upTo(2).map(async () => createSessions(agents, (await tracedStore(schema)).store, { now })));
    let runs = 0;
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 1, maxLength: 30, size: "max" }), async (steps) => {
        const of = { agent: ref.agent, sessionId: `run${(runs += 1)}` };
        const model = createSessions(agents, memoryStore(), { now });
        await model.writing.create(call, of);
        await servers[0]?.writing.create(call, of);
        for (const { server, events, behind } of steps) {
          const { sequence } = await model.reading.get(call, of);
          const ifSequence = behind === undefined ? undefined : sequence - behind;
          const append = (at: Sessions | undefined) =>
            at?.writing.append({ ...call, ifSequence }, { ...of, events }).catch((error: unknown) => error);
          expect(await append(servers[server])).toEqual(await append(model));
        }
        const query = { ...of, page: 1, pageSize: 100 };
        for (const { reading } of servers) {
          expect(await reading.history(call, query)).toEqual(await model.reading.history(call, query));
          expect(await reading.events(call, query)).toEqual(await model.reading.events(call, query));
        }
      }),
      { numRuns: 25 },
    );
  });

  test("a lease that another server took holds off a writer with an old head", async () => {
    const schema = schemas();
    const a = await tracedStore(schema);
    const b = await tracedStore(schema);
    await a.sessions.writing.create(call, name);
    await a.sessions.writing.append(call, { ...name, events: [said("held")] });
    const now = Date.now();
    const lease = await b.store.takeLease(ref, { owner: "b", until: now + 60_000, now });
    expect(await codeOf(a.sessions.writing.append(call, { ...name, events: [said("no")] }))).toBe("session_busy");
    await b.store.releaseLease(ref, lease?.fence ?? 0);
    await a.sessions.writing.append(call, { ...name, events: [said("yes")] });
    await a.store.delete(ref, now);
    expect(await codeOf(b.sessions.writing.append(call, { ...name, events: [said("gone")] }))).toBe("session_not_found");
    expect(await codeOf(b.sessions.writing.create(call, name))).toBe("session_exists");
  });

  test("an answer in the making that comes while its session is deleted is not left behind", async () => {
    const schema = schemas();
    const here = await tracedStore(schema);
    const there = await tracedStore(schema);
    await here.sessions.writing.create(call, { ...name, metadata: { held: true } });
    const now = Date.now();
    const lease = await there.store.takeLease(ref, { owner: "there", until: now + 60_000, now });
    const waiting = `SELECT FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND query LIKE '%${schema}%'`;
    await beside(async (client) => {
      // Holds up the deletion behind its look at drafts.
      await client.query(`BEGIN; SELECT FROM "${schema}".session_metadata FOR UPDATE`);
      const deleting = here.store.delete(ref, now);
      await vi.waitFor(async () => expect(await beside((other) => other.query(waiting))).toMatchObject({ rowCount: 1 }), 10_000);
      let isOver = false;
      const saving = there.store.saveDraft(ref, { fence: lease?.fence ?? 0, body: '{"text":"secret"}' }).finally(() => (isOver = true));
      await vi.waitFor(async () => expect(isOver || (await beside((other) => other.query(waiting))).rowCount === 2).toBe(true), 10_000);
      await client.query("ROLLBACK");
      expect(await Promise.all([deleting, saving])).toEqual([true, false]);
    });
    expect(await beside((client) => client.query(`SELECT body FROM "${schema}".drafts`))).toMatchObject({ rows: [] });
  });

  test("the same keyed write on both is one event and one answer", async () => {
    const schema = schemas();
    const first = await tracedStore(schema);
    const servers = [first, await tracedStore(schema)];
    const created = await Promise.all(
      servers.map(({ sessions }) => sessions.writing.create({ ...call, idempotencyKey: "k" }, name)),
    );
    expect(created[0]).toEqual(created[1]);
    const receipts = await Promise.all(
      servers.map(({ sessions }) => sessions.writing.append({ ...call, idempotencyKey: "k\0\ud800" }, { ...name, events: [said("once")] })),
    );
    expect(receipts[0]).toEqual(receipts[1]);
    expect(await sequencesOf(first.store)).toEqual([1, 2]);
  });
});
