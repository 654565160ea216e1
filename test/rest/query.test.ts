import { memoryStore, type Store } from "@orcha/server";
import { serve } from "@orcha/server/node";
import { expect, onTestFinished, test, vi } from "vitest";
import { agents } from "../agents.ts";
import { surroundings } from "../harness.ts";
import { seed } from "./cases.ts";
import { bothOf } from "./rest.ts";

const sessions = "/api/agents/supportAgent/sessions";

async function seeded() {
  const both = bothOf(memoryStore(), { surroundings: surroundings() });
  await seed(both.rpc);
  return both;
}

test.each([
  ["page=2&pageSize=3", { page: 2, pageSize: 3 }],
  // As in JSON, where both are the same number.
  ["page=2.0&pageSize=3", { page: 2, pageSize: 3 }],
  ["pageSize=100", { page: 1, pageSize: 100 }],
  ["throughSequence=2", { throughSequence: 2 }],
  ["", { page: 1, pageSize: 50, throughSequence: 12 }],
])("?%s is read as numbers", async (query, expected) => {
  const { send } = await seeded();
  expect(await send(`${sessions}/ses_1/history?${query}`)).toMatchObject({ status: 200, json: expected });
});

test.each([
  ["page=abc", "page"],
  ["page=", "page"],
  ["page=1.5", "page"],
  ["page=0", "page"],
  ["page=-1", "page"],
  ["page=1e2", "page"],
  ["page=0x10", "page"],
  ["page=%201", "page"],
  ["page=NaN", "page"],
  ["page=1&page=2", "page"],
  ["pageSize=101", "pageSize"],
  ["throughSequence=99999999999999999999", "throughSequence"],
  ["nonsense=1", "nonsense"],
  ["__proto__=1", "__proto__"],
  ["sessionId=other", "sessionId"],
  ["agent=researcher", "agent"],
])("?%s is invalid_input that names the parameter", async (query, path) => {
  const { send } = await seeded();
  for (const page of ["history", "events"]) {
    const { status, json } = await send(`${sessions}/ses_1/${page}?${query}`);
    expect([status, json]).toEqual([400, expect.objectContaining({ code: "invalid_input" })]);
    expect(JSON.stringify(json).replaceAll("\\", "")).toContain(path);
  }
});

test("a field that is unknown or missing is told as such", async () => {
  const { rest, send } = await seeded();
  const id = { agent: "supportAgent", sessionId: "ses_1" };
  const event = { type: "client_action.requested", data: { calls: [{ callId: "c" }] } };
  const answers = [
    await send(`${sessions}/ses_1/history?pagesize=1`),
    await rest("complete", { ...id, sumary: "done." }),
    await rest("run", { agent: "supportAgent" }),
    await rest("append", { ...id, events: [event] }),
  ];
  expect(answers.map(({ json }) => (json as { message: string }).message)).toEqual([
    "pagesize is unknown: this call has no such field",
    "sumary is unknown: this call has no such field",
    "content is missing",
    "events[0].data.calls[0].name is missing",
  ]);
});

test.each<[string, string[]]>([
  ['{"tier":"paid"}', ["ses_1"]],
  ['{"tier":"paid","n":1}', ["ses_1"]],
  ['{"n":1}', ["ses_1"]],
  ['{"n":"1"}', ["empty"]],
  ['{"n":true}', []],
  ["{}", ["done", "empty", "ses_1"]],
])("metadata=%s finds %j", async (metadata, expected) => {
  const { send } = await seeded();
  const { json } = await send(`${sessions}?metadata=${encodeURIComponent(metadata)}`);
  expect((json as { items: { sessionId: string }[] }).items.map(({ sessionId }) => sessionId)).toEqual(expected);
});

test.each(["", "tier=paid", "{", "[1]", "7", '{"tier":["paid"]}', `${"[".repeat(65)}${"]".repeat(65)}`])("metadata=%s is invalid_input", async (metadata) => {
  const { send } = await seeded();
  const { status, json } = await send(`${sessions}?metadata=${encodeURIComponent(metadata)}`);
  expect([status, json]).toEqual([400, expect.objectContaining({ code: "invalid_input", message: expect.stringContaining("metadata") as string })]);
});

test("a list is turned by its cursor", async () => {
  const { send } = await seeded();
  const seen: string[] = [];
  for (let query = "?pageSize=2"; query !== ""; ) {
    const page = (await send(`${sessions}${query}`)).json as { items: { sessionId: string }[]; nextCursor?: string };
    seen.push(...page.items.map(({ sessionId }) => sessionId));
    query = page.nextCursor === undefined ? "" : `?pageSize=2&cursor=${encodeURIComponent(page.nextCursor)}`;
  }
  expect(seen).toEqual(["done", "empty", "ses_1"]);
});

test("a write takes its input in the body, not in the query", async () => {
  const { send } = await seeded();
  expect(await send(`${sessions}/ses_1/complete?status=failed`, { method: "POST" })).toMatchObject({ status: 400, json: { details: { path: "status" } } });
  expect((await send(`${sessions}/ses_1`)).json).toMatchObject({ status: "active" });
});

test("HEAD answers a read's headers without its body", async () => {
  const { send } = await seeded();
  const { status, headers, text } = await send(`${sessions}/ses_1/history`, { method: "HEAD" });
  expect([status, headers.get("etag"), text]).toEqual([200, '"12"', ""]);
});

/** A store that counts who listens. */
function counting(): { store: Store; listening: () => number } {
  const store = memoryStore();
  let count = 0;
  const listen: Store["listen"] = (told) => {
    count += 1;
    const leave = store.listen(told);
    return () => {
      count -= 1;
      leave();
    };
  };
  return { store: { ...store, listen }, listening: () => count };
}

test("HEAD of a stream answers its headers, and leaves nobody listening", async () => {
  const { store, listening } = counting();
  const { rpc, send } = bothOf(store);
  await seed(rpc);
  const head = (id: string) => send(`${sessions}/${id}/tail?after=0`, { method: "HEAD", headers: { accept: "text/event-stream" } });
  const { status, headers, text } = await head("ses_1");
  expect([status, headers.get("content-type"), text, listening()]).toEqual([200, "text/event-stream", "", 0]);
  expect((await head("ses_none")).status).toBe(404);
});

test("HEAD of a piece of a tail waits for nothing", async () => {
  const { store, listening } = counting();
  const { rpc, send } = bothOf(store);
  await seed(rpc);
  const started = performance.now();
  const { status, headers, text } = await send(`${sessions}/ses_1/tail`, { method: "HEAD" });
  expect([status, headers.get("content-type"), text, listening()]).toEqual([200, "application/json", "", 0]);
  expect((await send(`${sessions}/ses_none/tail`, { method: "HEAD" })).status).toBe(404);
  expect(performance.now() - started).toBeLessThan(10_000);
});

test.each([
  ["REST", (url: string, signal: AbortSignal) => fetch(`${url}${sessions}/ses_1/tail`, { signal })],
  ["RPC", (url: string, signal: AbortSignal) => fetch(`${url}/rpc/tail`, { method: "POST", headers: { "content-type": "application/json" }, body: '{"json":{"agent":"supportAgent","sessionId":"ses_1"}}', signal })],
])("a piece of a tail over %s ends with the caller who waits for it", async (_name, ask) => {
  const { store, listening } = counting();
  const server = await serve({ agents, store, port: 0 });
  onTestFinished(() => server.close());
  await seed(bothOf(store).rpc);
  const controller = new AbortController();
  const asked = ask(server.url, controller.signal);
  await vi.waitFor(() => expect(listening()).toBe(1), { timeout: 10_000 });
  controller.abort();
  await expect(asked).rejects.toThrow("aborted");
  await vi.waitFor(() => expect(listening()).toBe(0), { timeout: 10_000 });
});

test.each([
  ["text/event-stream", true],
  ["text/event-stream; charset=utf-8", true],
  ["application/json, TEXT/Event-Stream", true],
  ["text/event-stream;q=0.9, */*;q=0.1", true],
  ["text/event-stream;q=0", false],
  ["text/event-stream; q=0.000, */*", false],
  ["application/json, text/event-stream;q=0.5", false],
  ["text/event-stream-of-another-kind", false],
  ["text/*", false],
  ["*/*", false],
])("who accepts %s is answered with a stream: %s", async (accept, isStream) => {
  const { send } = await seeded();
  const { status, headers } = await send(`${sessions}/done/tail?after=0`, { headers: { accept } });
  expect([status, headers.get("content-type")]).toEqual([200, isStream ? "text/event-stream" : "application/json"]);
});
