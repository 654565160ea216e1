import { request as send } from "node:http";
import { connect } from "node:net";
import { createApp, exportSessions, memoryStore, type AppOptions, type Principal, type Store } from "@orcha/server";
import { serve } from "@orcha/server/node";
import { afterEach, describe, expect, onTestFinished, test, vi } from "vitest";
import { agents } from "../agents.ts";
import { lineOf } from "../cli/logs.ts";
import { textOf } from "../formats/reading.ts";
import { describeStores } from "../stores.ts";
import { admin, everythingOf, leftovers, listed, load, refOf } from "./sessions.ts";

const lines = { "content-type": "application/x-ndjson" };

/** Everybody is an admin of the tenant that the other tests use. */
const everyone = (): Principal => admin.principal;

function logText(count: number, sessionId = "ses_test"): string {
  return Array.from({ length: count }, (_, index) => lineOf(index + 1, sessionId)).join("");
}

/** An app over a store, and imports into it. */
function appOf(store: Store, options: Partial<AppOptions> = {}) {
  const failures: unknown[] = [];
  const app = createApp({ agents, store, auth: everyone, onError: (error) => failures.push(error), ...options });
  async function post(body: BodyInit, query = "", headers: Record<string, string> = lines) {
    const stream = body instanceof ReadableStream ? { duplex: "half" } : {};
    const response = await app.request(`/api/import${query}`, { method: "POST", headers, body, ...stream });
    return { status: response.status, json: (await response.json()) as Record<string, unknown> };
  }
  return { app, post, failures };
}

describeStores("an import over HTTP", (make) => {
  test("does what an import does", async () => {
    const store = await make();
    const { post } = appOf(store);
    const local = memoryStore();
    for (const [text, query, options] of [
      [logText(1201), "", {}],
      [await textOf(exportSessions({ agents, store: local }, admin, { agent: "supportAgent" })), "?newIds=true&format=bundle", { newIds: true }],
      ['[{ "role": "user", "content": "Hi" }]', "?agent=supportAgent&sessionId=ses_chat", { agent: "supportAgent", sessionId: "ses_chat" }],
    ] as const) {
      const report = await load(local, text, options);
      const { status, json } = await post(text, query);
      expect([status, json]).toEqual([201, JSON.parse(JSON.stringify(report))]);
    }
    for (const id of ["ses_test", "ses_chat"]) {
      const there = await everythingOf(store, refOf(id));
      expect(there.messages).toEqual((await everythingOf(local, refOf(id))).messages);
    }
  });

  test("takes a file that is larger than any other body may be", async () => {
    const store = await make();
    const text = logText(7000);
    expect(text.length).toBeGreaterThan(5_000_000);
    expect(await appOf(store).post(new Blob([text]).stream())).toMatchObject({ status: 201, json: { events: 7000 } });
    expect((await everythingOf(store, refOf("ses_test"))).snapshot.sequence).toBe(7000);
  });

  test("of a damaged file writes nothing, and says the line", async () => {
    const store = await make();
    const { post } = appOf(store);
    const damaged = logText(1400).split("\n").with(1200, "{").join("\n");
    const { status, json } = await post(damaged);
    expect([status, json]).toEqual([400, { code: "invalid_input", message: "line 1201: is not JSON", retryable: false, details: { line: 1201 } }]);
    expect(await listed(store)).toEqual([]);
    expect(await leftovers(store)).toBe(0);
  });

  test("is never done twice by accident", async () => {
    const { post } = appOf(await make());
    const text = logText(3);
    await post(text);
    expect(await post(text)).toMatchObject({ status: 409, json: { code: "session_exists" } });
    expect(await post(text, "?newIds=false")).toMatchObject({ status: 409, json: { code: "session_exists" } });
    expect(await post(text, "?newIds=true")).toMatchObject({ status: 201, json: { sessions: [{ formerId: "ses_test" }] } });
    expect(await post(text, "?sessionId=ses_other")).toMatchObject({ status: 201, json: { sessions: [{ sessionId: "ses_other" }] } });
  });

  test("leaves nothing behind where the socket is cut", async () => {
    const store = await make();
    const failures: unknown[] = [];
    const server = await serve({ agents, store: { ...store, close: async () => {} }, port: 0, auth: everyone, onError: (error) => failures.push(error) });
    onTestFinished(() => server.close());
    const sending = send({ port: server.port, host: "127.0.0.1", path: "/api/import", method: "POST", headers: lines });
    sending.on("error", () => {});
    sending.write(logText(1501));
    await expect.poll(() => leftovers(store)).toBe(2);
    sending.destroy();
    await expect.poll(() => leftovers(store)).toBe(0);
    expect(await listed(store)).toEqual([]);
    expect(failures).toEqual([]);
  });

  test("belongs to the tenant of the token", async () => {
    const store = await make();
    const { post } = appOf(store, { auth: () => ({ ...admin.principal, tenant: "globex" }) });
    expect((await post(logText(3))).status).toBe(201);
    expect(await listed(store)).toEqual([]);
    expect(await appOf(store).post(logText(3))).toMatchObject({ status: 201 });
  });
});

describe("an import over HTTP", () => {
  afterEach(() => void vi.useRealTimers());

  test.each([
    ["nobody", undefined, 401, "unauthorized"],
    ["somebody who may only write", { tenant: "acme", scopes: ["read", "log", "write"] as const }, 403, "forbidden"],
  ])("is not for %s, and reads nothing first", async (_name, principal, status, code) => {
    const { post } = appOf(memoryStore(), { auth: () => principal });
    const unread = new ReadableStream({ pull: () => Promise.reject(new Error("was read")) }, { highWaterMark: 0 });
    expect(await post(unread, "?nonsense=1")).toMatchObject({ status, json: { code } });
  });

  test.each([
    ["nonsense=1", "nonsense"],
    ["agent=", "agent"],
    ["sessionId=../a", "sessionId"],
    ["newIds=yes", "newIds"],
    ["newIds=true&newIds=true", "newIds"],
    ["format=csv", "format"],
    ["__proto__=1", "__proto__"],
  ])("?%s is invalid_input that names the parameter", async (query, path) => {
    const { status, json } = await appOf(memoryStore()).post(logText(3), `?${query}`);
    expect([status, json]).toEqual([400, expect.objectContaining({ code: "invalid_input" })]);
    expect(JSON.stringify(json).replaceAll("\\", "")).toContain(path);
  });

  test.each([
    ["a form", { "content-type": "application/x-www-form-urlencoded" }],
    ["text, which a page elsewhere may send unasked", { "content-type": "text/plain" }],
    ["what has no type", { "content-type": "" }],
  ])("refuses %s", async (_name, headers) => {
    expect(await appOf(memoryStore()).post(logText(3), "", headers)).toMatchObject({ status: 415, json: { code: "unsupported_format" } });
  });

  test("takes POST only, with a body", async () => {
    const { app, post } = appOf(memoryStore());
    const got = await app.request("/api/import");
    expect([got.status, await got.json()]).toEqual([400, expect.objectContaining({ code: "invalid_input", message: "this path takes POST, not GET" })]);
    expect(await post("")).toMatchObject({ status: 415, json: { code: "unsupported_format" } });
    expect(await post('[{"role":"user","content":"Hi"}]')).toMatchObject({ status: 400, json: { details: { path: "agent" } } });
    expect(await post('[{"role":"user","content":"Hi"}]', "?agent=nobody")).toMatchObject({ status: 404, json: { code: "agent_not_found" } });
  });

  test("has its own limit, also for a body that doesn't tell its length", async () => {
    const store = memoryStore();
    const { post } = appOf(store, { maxImportBytes: 100_000 });
    const text = logText(1000);
    const refused = { status: 413, json: { code: "payload_too_large", details: { limit: 100_000 } } };
    expect(await post(text, "", { ...lines, "content-length": String(text.length) })).toMatchObject(refused);
    expect(await post(new Blob([text]).stream())).toMatchObject(refused);
    expect(await leftovers(store)).toBe(0);
    expect(await post(logText(20))).toMatchObject({ status: 201 });
  });

  test("ends where the caller falls silent for a minute", async () => {
    vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
    const store = memoryStore();
    const silent = new ReadableStream<Uint8Array>({ start: (controller) => controller.enqueue(new TextEncoder().encode(logText(1200))) });
    const posting = appOf(store).post(silent);
    await vi.waitFor(async () => expect(await leftovers(store)).toBe(2));
    await vi.advanceTimersByTimeAsync(60_000);
    expect(await posting).toMatchObject({ status: 409, json: { code: "aborted", message: expect.stringContaining("60 s") } });
    expect(await leftovers(store)).toBe(0);
  });

  test("keeps its lease while a slow file comes", async () => {
    const store = memoryStore();
    let now = Date.parse("2026-09-28T12:00:00.000Z");
    const { post } = appOf(store, { surroundings: { now: () => now } });
    const bytes = new TextEncoder().encode(logText(1100));
    let at = 0;
    const slow = new ReadableStream<Uint8Array>(
      {
        async pull(controller) {
          // Once a piece is stored.
          if (at > 600_000) now += 40_000;
          // Another import clears away what is silent.
          await post(logText(1, `ses_beside_${at}`));
          controller.enqueue(bytes.slice(at, (at += 50_000)));
          if (at >= bytes.length) controller.close();
        },
      },
      { highWaterMark: 0 },
    );
    expect(await post(slow)).toMatchObject({ status: 201, json: { events: 1100 } });
  });
});

test("a body that takes more than five minutes is cut off, but for an import", async () => {
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
  onTestFinished(() => void vi.useRealTimers());
  const server = await serve({ agents, store: memoryStore(), port: 0, onError: () => {} });
  const ends: string[] = [];
  const sockets = ["/rpc/list", "/api/import"].map((path) => {
    const socket = connect(server.port, "127.0.0.1");
    socket.on("error", () => {}).on("close", () => ends.push(path));
    socket.write(`POST ${path} HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\ntransfer-encoding: chunked\r\n\r\n1\r\n{\r\n`);
    return socket;
  });
  onTestFinished(async () => {
    for (const socket of sockets) socket.destroy();
    await server.close();
  });
  await vi.waitFor(() => expect(vi.getTimerCount()).toBe(2));
  for (let minute = 0; minute < 6; minute += 1) {
    await vi.advanceTimersByTimeAsync(55_000);
    sockets[1]?.write("1\r\n\n\r\n");
    await new Promise((resolve) => setImmediate(resolve));
  }
  await vi.waitFor(() => expect(ends).toEqual(["/rpc/list"]));
});
