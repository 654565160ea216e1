import { randomUUID } from "node:crypto";
import { expect, describe, inject, onTestFinished, test } from "vitest";
import { appOf, clientOf, codeOf } from "../harness.ts";
import { postgresIn, temporarySchemas } from "../stores.ts";
import { beside, call, completed, name, ref, requested, said, sequencesOf, tracedStore, upTo, type Traced } from "./postgres-bed.ts";

const schemas = temporarySchemas();

describe("round trips", () => {
  test("a page takes one, an append one where this process wrote last, else at most two", async () => {
    const { store, traced, schema, sessions } = await tracedStore(schemas());
    const other = await tracedStore(schema);
    async function trips(run: () => Promise<unknown>, at = traced): Promise<number> {
      at.length = 0;
      await run();
      return at.length;
    }
    expect(await trips(() => sessions.writing.create(call, { ...name, metadata: { customer: "c" } }))).toBe(2);
    const append = (of: typeof sessions, ...events: object[]) => of.writing.append(call, { ...name, events });
    expect(await trips(() => append(sessions, said("cold")))).toBe(2);
    expect(await trips(() => append(sessions, said("held")))).toBe(1);
    // New calls, answers to open ones, and both at once.
    expect(await trips(() => append(sessions, requested("a"), requested("b")))).toBe(1);
    expect(await trips(() => append(sessions, completed("a")))).toBe(1);
    expect(await trips(() => append(sessions, completed("b"), requested("c"), completed("c")))).toBe(1);
    expect(await trips(() => append(other.sessions, said("elsewhere")), other.traced)).toBe(2);

    const query = { page: 1, pageSize: 5 };
    expect(await trips(() => store.historyPage(ref, query))).toBe(1);
    expect(await trips(() => store.historyPage(ref, { ...query, throughSequence: 4 }))).toBe(1);
    expect(await trips(() => store.historyPage(ref, { page: Number.MAX_SAFE_INTEGER, pageSize: 100 }))).toBe(1);
    expect(await trips(() => store.eventPage(ref, query))).toBe(1);
    expect(await trips(() => store.events(ref, 1, 3))).toBe(1);
    const future = { ...query, throughSequence: 99 };
    expect(await trips(() => codeOf(store.historyPage(ref, future)))).toBe(1);
    expect(await trips(() => codeOf(store.eventPage(ref, future)))).toBe(1);
  });

  test("a page of 20,000 items reads ranges of an index, however old it is", { timeout: 60_000 }, async () => {
    const { store, traced, sessions } = await tracedStore(schemas());
    await sessions.writing.create(call, name);
    const block = Array.from({ length: 1000 }, (_, index) => said(`m${index}`));
    for (let round = 0; round < 20; round += 1) await sessions.writing.append(call, { ...name, events: block });
    for (const page of [1, 200, 400]) {
      for (const throughSequence of [undefined, 15_000]) {
        traced.length = 0;
        const query = { page, pageSize: 50, ...(throughSequence ? { throughSequence } : {}) };
        const history = await store.historyPage(ref, query);
        expect(history?.total).toBe(throughSequence ? 14_999 : 20_000);
        await store.eventPage(ref, query);
        expect(traced).toHaveLength(2);
        for (const statement of traced) {
          const plan = await planOf(statement);
          for (const { node, rows } of plan) {
            expect(node).not.toMatch(/Seq Scan|Bitmap|Hash|Materialize/);
            expect(rows).toBeLessThanOrEqual(50);
          }
        }
      }
    }
  });
});

interface Plan {
  "Node Type": string;
  "Actual Rows"?: number;
  Plans?: Plan[];
}

/** How Postgres runs a statement as the store's connections do: the node types, and the rows of each. */
async function planOf({ sql, values }: Traced): Promise<{ node: string; rows: number }[]> {
  const settings = ["seqscan", "bitmapscan", "hashjoin", "mergejoin", "sort"].map((setting) => `SET enable_${setting} = off;`);
  const { rows } = await beside(async (client) => {
    await client.query(settings.join(""));
    return client.query<{ "QUERY PLAN": { Plan: Plan }[] }>(`EXPLAIN (ANALYZE, FORMAT JSON) ${sql}`, [...values]);
  });
  const nodes = (plan: Plan): { node: string; rows: number }[] => [
    { node: plan["Node Type"], rows: plan["Actual Rows"] ?? 0 },
    ...(plan.Plans ?? []).flatMap(nodes),
  ];
  return rows.flatMap((row) => row["QUERY PLAN"].flatMap(({ Plan }) => nodes(Plan)));
}

test("a database of an encoding that can't hold every text is refused, with what to do", async () => {
  const database = `latin_${randomUUID().replaceAll("-", "")}`;
  await beside((client) => client.query(`CREATE DATABASE ${database} ENCODING 'LATIN1' LOCALE 'C' TEMPLATE template0`));
  onTestFinished(() => beside(async (client) => void (await client.query(`DROP DATABASE ${database} WITH (FORCE)`))));
  const url = new URL(inject("postgresUrl"));
  url.pathname = `/${database}`;
  const opening = postgresIn("orcha", { connectionString: url.href });
  await expect(opening).rejects.toMatchObject({ code: "storage_error", message: expect.stringMatching(/LATIN1.*ENCODING 'UTF8'/) });
});

describe("the schema", () => {
  test("opened by several at once is migrated once", async () => {
    const schema = schemas();
    const stores = await Promise.all(upTo(6).map(() => postgresIn(schema)));
    for (const store of stores) await clientOf(store).supportAgent.create();
    for (const store of stores) {
      expect((await clientOf(store).supportAgent.list()).items).toHaveLength(6);
      await store.close();
    }
    const { rows } = await beside((client) => client.query(`SELECT version FROM "${schema}".schema_version`));
    expect(rows).toEqual([{ version: 2 }]);
  });

  test("of a newer version is refused and left alone", async () => {
    const schema = schemas();
    await (await postgresIn(schema)).close();
    await beside((client) => client.query(`INSERT INTO "${schema}".schema_version VALUES (99, now())`));
    await expect(postgresIn(schema)).rejects.toMatchObject({
      code: "storage_error",
      message: expect.stringMatching(/is of version 99; this server knows up to \d: upgrade the server/),
    });
  });

  test("of another program is refused and left alone", async () => {
    const schema = schemas();
    await beside((client) => client.query(`CREATE SCHEMA "${schema}"; CREATE TABLE "${schema}".theirs (x integer)`));
    await expect(postgresIn(schema)).rejects.toMatchObject({ code: "storage_error", message: expect.stringContaining("not Orcha's") });
  });

  test("has a plain name", async () => {
    for (const schema of ["", "Upper", 'a"b', "x".repeat(64)]) await expect(postgresIn(schema)).rejects.toMatchObject({ code: "invalid_input" });
  });
});

describe("what databases can't index", () => {
  test("long metadata, long call ids and NUL are kept and found", async () => {
    const { store, sessions } = await tracedStore(schemas());
    const metadata = { long: "x".repeat(5000), nul: "a\0b", half: "\ud800", "#": "#" };
    await sessions.writing.create(call, { ...name, metadata });
    await sessions.writing.create(call, { agent: ref.agent, sessionId: "other", metadata: { ...metadata, long: "x".repeat(5001) } });
    const callId = `\0${"é".repeat(500)}`;
    await sessions.writing.append(call, { ...name, events: [requested(callId)] });
    await sessions.writing.append(call, { ...name, events: [completed(callId)] });
    for (const [key, value] of Object.entries(metadata)) {
      const found = await store.list({ tenant: "default", agent: ref.agent, metadata: { [key]: value }, limit: 9 });
      expect(found.length).toBe(key === "long" ? 1 : 2);
    }
    const current = await store.read(ref, []);
    expect(current?.view.open).toEqual([]);
    expect(await store.snapshot({ ...ref, sessionId: "s\0" })).toBeUndefined();
  });

  test("a session of many events is forked in several statements, or not at all", async () => {
    const { store, traced, sessions } = await tracedStore(schemas());
    await sessions.writing.create(call, name);
    const block = upTo(1000).map((index) => said(`m${index}`));
    for (let round = 0; round < 6; round += 1) await sessions.writing.append(call, { ...name, events: block });
    traced.length = 0;
    const copy = await sessions.forking.fork(call, name);
    expect(traced.filter(({ sql }) => sql === "COMMIT")).toHaveLength(1);
    const forked = { ...ref, sessionId: copy.sessionId };
    expect(await sequencesOf(store, forked)).toEqual(upTo(6001));
    expect(await store.historyPage(forked, { page: 2, pageSize: 100 })).toMatchObject({ total: 6000, start: 5800 });
    expect(await store.delete(forked, 1)).toBe(true);
    expect(await sequencesOf(store)).toHaveLength(6001);
  });
});

describe("receipts", () => {
  test("an old receipt makes way for a new one", async () => {
    const { store, sessions } = await tracedStore(schemas());
    await sessions.writing.create(call, name);
    const receipt = { operation: "append", sessionId: "s", key: "k", digest: "d", outcome: "{}", createdAt: 1_000_000_000_000 };
    await store.keepReceipt(ref, receipt);
    await expect(store.keepReceipt(ref, receipt)).rejects.toMatchObject({ name: "ReceiptExists" });
    const later = { ...receipt, digest: "e", createdAt: receipt.createdAt + 86_400_001 };
    await store.keepReceipt(ref, later);
    expect(await store.findReceipt(ref, receipt, 0)).toEqual(later);
  });
});

describe("damage", () => {
  test("one unreadable item is said, and the page still comes, newlines and all", async () => {
    const { store, schema, traced } = await tracedStore(schemas());
    const { rpc } = appOf(store);
    const messages = ["a", "b", "c"].map((content) => ({ role: "user", content }));
    await rpc("restore", { agent: "supportAgent", sessionId: "s", messages });
    await beside(async (client) => {
      await client.query(`UPDATE "${schema}".items SET body = E'{\\n\\n' WHERE position = 1`);
      await client.query(`UPDATE "${schema}".events SET body = E'{\\n' WHERE sequence = 3`);
    });
    traced.length = 0;
    for (const throughSequence of [undefined, 4]) {
      const { status, json } = await rpc("history", { agent: "supportAgent", sessionId: "s", throughSequence });
      expect(status).toBe(200);
      expect(json["items"]).toMatchObject([{ id: "message:2" }, { id: "unreadable:3", type: "unreadable" }, { id: "message:4" }]);
    }
    const { events } = await clientOf(store).supportAgent.events("s");
    expect(events[2]).toMatchObject({ sequence: 3, type: "unknown", originalType: "unreadable" });
    expect(events).toHaveLength(4);
    expect(await store.events(ref, 3, 3)).toEqual(["{\n"]);
  });
});
