import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { createSessions, type Call, type Store } from "@orcha/server";
import { sqliteStore } from "@orcha/server/sqlite";
import Database from "better-sqlite3";
import { describe, expect, test } from "vitest";
import { agents } from "../agents.ts";
import { appOf, clientOf } from "../harness.ts";
import { sqliteIn, temporaryFolders } from "../stores.ts";

const folders = temporaryFolders();
const call: Call = { principal: { tenant: "default", scopes: ["read", "log", "write"] } };
const ref = { agent: "supportAgent", sessionId: "long" };
const named = { tenant: "default", ...ref };

describe("one page of a long session", () => {
  test("100,000 items: at most 3 statements and 52 rows, at any page", { timeout: 60_000 }, async () => {
    const folder = await folders();
    const statements: string[] = [];
    const store = await sqliteIn(folder, { synchronous: "NORMAL", trace: (sql) => statements.push(sql) });
    const { reading, writing } = createSessions(agents, store);
    await writing.create(call, ref);
    const block = Array.from({ length: 1000 }, (_, index) => ({
      type: "message.created",
      data: { role: "user", content: [{ type: "text", text: `m${index}` }] },
    }));
    for (let round = 0; round < 100; round += 1) await writing.append(call, { ...ref, events: block });

    for (const page of [1, 2, 1000, 1999, 2000, 2001]) {
      for (const throughSequence of [undefined, 60_000]) {
        statements.length = 0;
        const history = await reading.history(call, { ...ref, page, pageSize: 50, throughSequence });
        expect(statements.length).toBeLessThanOrEqual(3);
        const total = throughSequence === undefined ? 100_000 : 59_999;
        expect(history.total).toBe(total);
        // The session's row, the count at the pin, and the page: what else would be read had to be in a statement.
        expect(history.items.length).toBe(Math.max(0, Math.min(50, total - (page - 1) * 50)));
        for (const sql of statements) {
          expect(sql).not.toMatch(/offset|count\s*\(/i);
          expect(planOf(folder, sql)).not.toMatch(/SCAN|TEMP B-TREE/);
        }
      }
    }
    await store.close();
  });
});

/** How SQLite would run a traced statement, whose values are in its text. */
function planOf(folder: string, sql: string): string {
  const database = new Database(join(folder, "orcha.db"), { readonly: true });
  try {
    return database
      .prepare<[], { detail: string }>(`EXPLAIN QUERY PLAN ${sql}`)
      .all()
      .map(({ detail }) => detail)
      .join("\n");
  } finally {
    database.close();
  }
}

describe("the file", () => {
  test("is in WAL mode and syncs by default", async () => {
    const folder = await folders();
    const pragmas: string[] = [];
    const store = await sqliteIn(folder, { trace: (sql) => pragmas.push(sql) });
    expect(pragmas).toContain("PRAGMA synchronous = FULL");
    await store.close();
    const database = new Database(join(folder, "orcha.db"));
    expect(database.pragma("journal_mode", { simple: true })).toBe("wal");
    database.close();
  });

  test("waits for the disk at each write but those of drafts, which a power cut may take", async () => {
    const traced: string[] = [];
    const store = await sqliteIn(await folders(), { trace: (sql) => traced.push(sql) });
    const { supportAgent } = clientOf(store);
    const { sessionId } = await supportAgent.create();
    traced.push("the draft");
    await store.saveDraft({ tenant: "default", agent: "supportAgent", sessionId }, { fence: 0, body: "{}" });
    traced.push("the rest");
    await supportAgent.append(sessionId, { messages: [{ role: "user", content: "Hi" }] });
    const synced: [at: string, synchronous: string][] = [];
    let at = "the start";
    let synchronous = "";
    for (const sql of traced) {
      if (sql.startsWith("the ")) at = sql;
      synchronous = /^PRAGMA synchronous = (\w+)/.exec(sql)?.[1] ?? synchronous;
      if (sql === "COMMIT") synced.push([at, synchronous]);
    }
    await store.close();
    expect(new Map(synced)).toEqual(new Map([["the start", "FULL"], ["the draft", "NORMAL"], ["the rest", "FULL"]]));
  });

  test("keeps everything over a restart", async () => {
    const folder = await folders();
    const first = await sqliteIn(folder);
    const { session } = await clientOf(first).supportAgent.restore([{ role: "user", content: "Where is my order?" }]);
    const before = await clientOf(first).supportAgent.history(session.sessionId);
    await first.close();
    const second = await sqliteIn(folder);
    expect(await clientOf(second).supportAgent.history(session.sessionId)).toEqual(before);
    await second.close();
  });

  test("of a newer version is refused and left alone", async () => {
    const folder = await folders();
    await (await sqliteIn(folder)).close();
    const database = new Database(join(folder, "orcha.db"));
    database.pragma("user_version = 99");
    database.close();
    await expect(sqliteIn(folder)).rejects.toMatchObject({
      code: "storage_error",
      message: expect.stringMatching(/schema 99; this server knows up to \d: upgrade the server/),
    });
    const after = new Database(join(folder, "orcha.db"));
    expect(after.pragma("user_version", { simple: true })).toBe(99);
    after.close();
  });

  test("of another program is refused and left alone", async () => {
    const folder = await folders();
    const database = new Database(join(folder, "orcha.db"));
    database.exec("CREATE TABLE theirs (x)");
    database.close();
    await expect(sqliteIn(folder)).rejects.toMatchObject({ code: "storage_error", message: expect.stringContaining("not Orcha's") });
  });

  test.each(["", " "])("named %j is none: SQLite would keep nothing of it", async (file) => {
    await expect(sqliteStore({ file })).rejects.toMatchObject({ code: "invalid_input", details: { path: "file" } });
  });

  test("that is no database is a storage_error", async () => {
    const folder = await folders();
    await writeFile(join(folder, "orcha.db"), "not a database, but long enough to be read as a header of one, surely. ".repeat(20));
    await expect(sqliteIn(folder)).rejects.toMatchObject({ code: "storage_error" });
  });

  test("in a directory that is not there is a storage_error that says so", async () => {
    const folder = join(await folders(), "data");
    await expect(sqliteIn(folder)).rejects.toMatchObject({ code: "storage_error", message: expect.stringContaining("directory") });
  });

  test.each<[name: string, table: RegExp, read: (store: Store) => Promise<unknown>]>([
    ["events", /FROM events/, (store) => store.events(named, 1, 3)],
    ["a page of events", /FROM events/, (store) => store.eventPage(named, { page: 1, pageSize: 5 })],
    ["a page of items", /FROM items/, (store) => store.historyPage(named, { page: 1, pageSize: 5 })],
    ["what changed", /FROM events/, (store) => store.changed(named, { after: 1, through: 3, lookups: [] })],
  ])("that another process removes a session from in the middle of a read has none of it: %s", async (_name, table, read) => {
    const folder = await folders();
    const other = await sqliteIn(folder);
    let isArmed = false;
    const store = await sqliteIn(folder, {
      trace: (sql) => {
        if (!isArmed || !table.test(sql)) return;
        isArmed = false;
        // The deletion happens before this call returns, and so before the statement reads.
        void other.delete(named, 1);
      },
    });
    const { writing } = createSessions(agents, store);
    await writing.restore(call, { ...ref, messages: [{ role: "user", content: "a" }, { role: "user", content: "b" }] });
    expect(await read(store)).toBeDefined();
    isArmed = true;
    expect(await read(store)).toBeUndefined();
    await Promise.all([store.close(), other.close()]);
  });

  test("opened by several at once is migrated once", async () => {
    const folder = await folders();
    const stores = await Promise.all([1, 2, 3, 4].map(() => sqliteIn(folder)));
    const sessionIds = await Promise.all(stores.map(async (store) => (await clientOf(store).supportAgent.create()).sessionId));
    for (const store of stores) {
      const { items } = await clientOf(store).supportAgent.list();
      expect(items.map(({ sessionId }) => sessionId).sort()).toEqual([...sessionIds].sort());
      await store.close();
    }
  });

  test("locked by another process is waited for without blocking the event loop", async () => {
    const folder = await folders();
    const store = await sqliteIn(folder);
    const orcha = clientOf(store);
    const { sessionId } = await orcha.supportAgent.create();
    const other = new Database(join(folder, "orcha.db"));
    other.exec("BEGIN IMMEDIATE");
    let ticks = 0;
    const ticking = setInterval(() => (ticks += 1), 5);
    const writing = orcha.supportAgent.append(sessionId, { messages: [{ role: "user", content: "late" }] });
    // Reads go on while the writer waits.
    expect((await orcha.supportAgent.history(sessionId)).total).toBe(0);
    await expect.poll(() => ticks, { timeout: 3000 }).toBeGreaterThan(5);
    other.exec("COMMIT");
    await writing;
    clearInterval(ticking);
    other.close();
    expect((await orcha.supportAgent.history(sessionId)).total).toBe(1);
    await store.close();
  });
});

describe("damage", () => {
  test("one unreadable item is said, and the page still comes", async () => {
    const folder = await folders();
    const store = await sqliteIn(folder);
    const { rpc } = appOf(store);
    const messages = ["a", "b", "c"].map((content) => ({ role: "user", content }));
    await rpc("restore", { agent: "supportAgent", sessionId: "hurt", messages });
    const database = new Database(join(folder, "orcha.db"));
    database.exec("UPDATE items SET body = substr(body, 1, 70) WHERE key & 4294967295 = 1");
    database.exec(`UPDATE items SET body = '{"id":"hologram:4","type":"hologram","createdAt":"2030-01-01T00:00:00.000Z","depth":3}' WHERE key & 4294967295 = 2`);
    database.exec("UPDATE events SET body = '{' WHERE key & 4294967295 = 3");
    database.close();

    const { status, json } = await rpc("history", { agent: "supportAgent", sessionId: "hurt" });
    expect(status).toBe(200);
    expect(json["items"]).toMatchObject([
      { id: "message:2" },
      { id: "unreadable:3", type: "unreadable", reason: "the stored item is damaged", createdAt: expect.stringMatching(/^20/) },
      { type: "hologram", depth: 3 },
    ]);
    const { items } = await clientOf(store).supportAgent.history("hurt");
    expect(items[2]).toMatchObject({ type: "unknown", originalType: "hologram", depth: 3 });

    const { events } = await clientOf(store).supportAgent.events("hurt");
    expect(events[2]).toMatchObject({ sequence: 3, type: "unknown", originalType: "unreadable" });
    expect(events).toHaveLength(4);
    await store.close();
  });

  test.each(["substr(snapshot, 1, 100)", "'[' || snapshot", "replace(snapshot, '\"status\":', '')"])("a snapshot that is %s ends neither a list nor its session", async (damaged) => {
    const folder = await folders();
    const store = await sqliteIn(folder);
    const { rpc } = appOf(store, { onError: () => {} });
    const named = { agent: "supportAgent", sessionId: "hurt" };
    await rpc("restore", { ...named, messages: [{ role: "user", content: "hi" }], name: "A name", metadata: { tier: 1 } });
    await rpc("create", { agent: "supportAgent", sessionId: "whole" });
    const before = (await rpc("list", { agent: "supportAgent" })).json;
    const database = new Database(join(folder, "orcha.db"));
    database.exec(`UPDATE sessions SET snapshot = ${damaged} WHERE id = 'hurt'`);
    database.close();

    expect((await rpc("list", { agent: "supportAgent" })).json).toEqual(before);
    expect((await rpc("get", named)).json).toMatchObject({ sessionId: "hurt", name: "A name", metadata: { tier: 1 }, sequence: 2 });
    expect((await rpc("messages", named)).json).toEqual([{ role: "user", content: "hi" }]);
    expect((await rpc("history", named)).json).toMatchObject({ items: [{ id: "message:2" }], name: "A name", sequence: 2 });
    expect((await rpc("events", named)).json).toMatchObject({ total: 2, name: "A name", sequence: 2 });
    const { json } = await rpc("append", { ...named, messages: [{ role: "user", content: "more" }] });
    expect(json["code"]).toBe("storage_error");
    await store.close();
  });

  test.each(["{", "null", '{"type":"client_action.resolved"}'])("an event that is %s is the store's fault, not the caller's", async (body) => {
    const folder = await folders();
    const store = await sqliteIn(folder);
    const { rpc } = appOf(store, { onError: () => {} });
    const named = { agent: "supportAgent", sessionId: "hurt" };
    await rpc("create", named);
    const calls = [{ callId: "a", name: "request_human_approval", arguments: { amount: 1, currency: "USD" } }];
    await rpc("append", { ...named, events: [{ type: "client_action.requested", data: { calls } }] });
    const answer = { ...named, toolResults: [{ callId: "a", output: { approved: true } }] };
    expect((await rpc("resume", answer)).status).toBe(200);
    const database = new Database(join(folder, "orcha.db"));
    database.prepare("UPDATE events SET body = ? WHERE key & 4294967295 = 3").run(body);
    database.close();

    const again = await rpc("resume", answer);
    expect([again.json["code"], again.json["message"]]).toEqual(["storage_error", "event 3 of the session is damaged, so its answer can't be compared"]);
    const fork = await rpc("fork", named);
    expect([fork.json["code"], fork.json["message"]]).toEqual(["storage_error", "event 3 of the session is damaged; fork an earlier throughSequence"]);
    expect((await rpc("fork", { ...named, throughSequence: 2 })).status).toBe(200);
    // A model that isn't told a turn would never know.
    const { json } = await rpc("messages", named);
    expect([json["code"], json["message"]]).toEqual(["storage_error", "event 3 of the session is damaged, so its messages aren't whole"]);
    await store.close();
  });
});
