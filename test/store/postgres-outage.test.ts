import { createSessions } from "@orcha/server";
import { postgresStore } from "@orcha/server/postgres";
import pg from "pg";
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { agents } from "../agents.ts";
import { clientOf, codeOf } from "../harness.ts";
import { makePostgres, type TestPostgres } from "../postgres.ts";
import { call, name, ref, said, sequencesOf } from "./postgres-bed.ts";

describe("a database that goes away", () => {
  let server: TestPostgres;
  beforeAll(async () => {
    server = await makePostgres();
    await server.start();
  });
  afterAll(() => server.remove());

  test("is a storage_error within a bound, and works again without a restart", async () => {
    const options = { connectionString: server.url, maxConnections: 2, connectTimeoutMs: 1000, statementTimeoutMs: 1000 };
    const store = await postgresStore(options);
    onTestFinished(() => store.close());
    const orcha = clientOf(store, {}, { retry: false });
    const { sessionId } = await orcha.supportAgent.create();
    const write = () => orcha.supportAgent.append(sessionId, { messages: [{ role: "user", content: "again" }] });
    await write();
    const acknowledged = await orcha.supportAgent.events(sessionId);
    await server.stop();
    for (const late of [write, () => orcha.supportAgent.history(sessionId), () => postgresStore(options)]) {
      const start = performance.now();
      expect(await codeOf(late())).toBe("storage_error");
      expect(performance.now() - start).toBeLessThan(20_000);
    }
    await server.start();
    expect(await orcha.supportAgent.events(sessionId)).toEqual(acknowledged);
    await write();
    expect((await orcha.supportAgent.history(sessionId)).total).toBe(2);
  });

  test("loses single connections without anybody noticing", async () => {
    const store = await postgresStore({ connectionString: server.url, schema: "single" });
    onTestFinished(() => store.close());
    const orcha = clientOf(store);
    const { sessionId } = await orcha.supportAgent.create();
    const admin = new pg.Client({ connectionString: server.url });
    await admin.connect();
    await admin.query("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'orcha'");
    await admin.end();
    await new Promise((resolve) => setTimeout(resolve, 100));
    await orcha.supportAgent.append(sessionId, { messages: [{ role: "user", content: "still here" }] });
    expect((await orcha.supportAgent.history(sessionId)).total).toBe(1);
  });

  test("a queue for a connection that nobody gives back is a storage_error in time", async () => {
    const options = { connectionString: server.url, schema: "queue", maxConnections: 1, connectTimeoutMs: 300, statementTimeoutMs: 3000 };
    const store = await postgresStore(options);
    onTestFinished(() => store.close());
    const { writing } = createSessions(agents, store);
    await writing.create(call, name);
    // From here on, an append is one statement.
    await writing.append(call, { ...name, events: [said("held")] });
    const admin = new pg.Client({ connectionString: server.url });
    await admin.connect();
    await admin.query("BEGIN; SELECT FROM queue.sessions FOR UPDATE");
    const waiting = writing.append(call, { ...name, events: [said("waits")] });
    await expect(store.snapshot(ref)).rejects.toMatchObject({ code: "storage_error", message: expect.stringContaining("free in time") });
    await admin.query("ROLLBACK");
    await admin.end();
    await waiting;
    expect(await sequencesOf(store)).toEqual([1, 2, 3]);
  });

  test("a row that stays locked is a storage_error within the statement's time", async () => {
    const store = await postgresStore({ connectionString: server.url, schema: "locked", statementTimeoutMs: 300 });
    onTestFinished(() => store.close());
    const { writing } = createSessions(agents, store);
    await writing.create(call, name);
    const admin = new pg.Client({ connectionString: server.url });
    await admin.connect();
    await admin.query("BEGIN; SELECT FROM locked.sessions FOR UPDATE");
    const write = () => writing.append(call, { ...name, events: [said("late")] });
    await expect(write()).rejects.toMatchObject({ code: "storage_error", message: expect.stringContaining("too long") });
    expect((await store.historyPage(ref, { page: 1, pageSize: 1 }))?.total).toBe(0);
    await admin.query("ROLLBACK");
    await admin.end();
    await write();
    expect(await sequencesOf(store)).toEqual([1, 2]);
  });
});
