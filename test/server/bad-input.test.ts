import { contract, errorTable, maxBodyBytes, type OperationName } from "@orcha/contract";
import { memoryStore } from "@orcha/server";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { appOf } from "../harness.ts";
import { describeStores } from "../stores.ts";

const operations = Object.keys(contract) as OperationName[];
const oddIds = [
  "..", ".", "/", "../../etc/passwd", "%2e%2e", "", " ", "a/b", "a\0b", "\ud800", "x".repeat(129), "constructor", "__proto__",
  "ses_real", "ses_other", "-dash", ":colon", "ünïcode", "1", "true", "null", "'; DROP TABLE sessions; --",
];

const long = "x".repeat(100_000);

/** More levels than anything may have. */
function nested(key: string): unknown {
  return Array.from({ length: 70 }).reduce<unknown>((inner, _, depth) => ({ [depth === 69 ? key : "a"]: inner }), 1);
}

/** Values that nobody should send, and near misses of what callers do send. */
const odd = fc.oneof(
  fc.constantFrom<unknown>(null, true, 0, -1, 1.5, 1e308, "", "10", "a\0b", "\udfff", [], {}, [[]], { __proto__: null }),
  fc.constantFrom<unknown>(...oddIds),
  fc.jsonValue({ maxDepth: 4 }),
);
const oddEvent = fc.oneof(
  odd,
  fc.record(
    {
      type: fc.constantFrom<unknown>("message.created", "action.completed", "client_action.requested", "session.created", "nope", 5),
      data: fc.oneof(odd, fc.record({ role: odd, content: odd, callId: odd, name: odd, calls: odd, results: odd }, { requiredKeys: [] })),
      timestamp: fc.oneof(odd, fc.constant("2026-13-41T99:00:00Z")),
      run: odd,
      sequence: odd,
    },
    { requiredKeys: [] },
  ),
);
const oddMessage = fc.oneof(
  odd,
  fc.record(
    {
      role: fc.constantFrom<unknown>("user", "assistant", "tool", "system", "developer", null),
      content: odd,
      tool_calls: fc.oneof(odd, fc.array(fc.record({ id: odd, type: odd, function: odd }, { requiredKeys: [] }), { maxLength: 2 })),
      tool_call_id: odd,
      name: odd,
    },
    { requiredKeys: [] },
  ),
);
const oddInput = fc.oneof(
  { weight: 1, arbitrary: odd },
  {
    weight: 6,
    arbitrary: fc.record(
      {
        agent: fc.constantFrom<unknown>("supportAgent", "supportAgent", "researcher", "nobody", "__proto__", "toString", 7),
        sessionId: fc.constantFrom<unknown>("ses_real", "ses_real", ...oddIds, 5, null),
        page: odd,
        pageSize: odd,
        throughSequence: odd,
        cursor: odd,
        status: odd,
        runStatus: odd,
        metadata: odd,
        unset: odd,
        name: odd,
        variables: odd,
        summary: odd,
        messages: fc.oneof(odd, fc.array(oddMessage, { maxLength: 3 })),
        events: fc.oneof(odd, fc.array(oddEvent, { maxLength: 3 })),
        toolResults: fc.oneof(
          odd,
          fc.array(fc.oneof(odd, fc.record({ callId: odd, output: odd, isError: odd, deny: odd, reason: odd }, { requiredKeys: [] })), { maxLength: 2 }),
        ),
      },
      { requiredKeys: ["agent"] },
    ),
  },
);

describeStores("bad input", (make) => {
  test("of any kind is answered by a code of the table, and a refused call changes nothing", { timeout: 60_000 }, async () => {
    const { rpc } = appOf(await make());
    const kept = { agent: "supportAgent", sessionId: "ses_real" };
    await rpc("create", kept);
    const waiting = { type: "client_action.requested", data: { calls: [{ callId: "c", name: "x", arguments: {} }] } };
    await rpc("append", { ...kept, events: [waiting] });
    await fc.assert(
      fc.asyncProperty(fc.constantFrom(...operations), oddInput, async (operation, input) => {
        // The one session that everything is compared with must outlive its own deletion.
        if (operation === "delete" || operation === "complete") return;
        const before = (await rpc("events", kept)).text;
        const sessions = (await rpc("list", { agent: "supportAgent", pageSize: 100 })).text;
        const { status, json } = await rpc(operation, input);
        if (status === 200) return;
        expect(status).toBeLessThan(500);
        expect(errorTable).toHaveProperty(String(json["code"]));
        expect(json).toMatchObject({ message: expect.any(String), status, data: { retryable: expect.any(Boolean) } });
        expect((await rpc("events", kept)).text).toBe(before);
        expect((await rpc("list", { agent: "supportAgent", pageSize: 100 })).text).toBe(sessions);
      }),
      { numRuns: 1500 },
    );
  });

  test.each(oddIds.filter((id) => !/^[A-Za-z0-9_][A-Za-z0-9_:.-]{0,127}$/.test(id)))("session id %j is refused by every operation", async (sessionId) => {
    const { rpc } = appOf(await make());
    for (const operation of operations) {
      if (operation === "list") continue;
      const { status, json } = await rpc(operation, { agent: "supportAgent", sessionId, messages: [], toolResults: [] });
      expect([status, json["code"]]).toEqual([400, "invalid_input"]);
      expect(json["data"]).toMatchObject({ details: { path: "sessionId" } });
    }
  });

  test("hostile keys stay data", async () => {
    const { app, rpc } = appOf(await make());
    const args = '{"__proto__":{"polluted":true},"constructor":{"prototype":1},"toString":"x"}';
    const body = `{"json":{"agent":"supportAgent","sessionId":"hostile","events":[{"type":"action.requested","data":{"callId":"c","name":"n","arguments":${args}}}]}}`;
    await rpc("create", { agent: "supportAgent", sessionId: "hostile" });
    const appended = await app.request("/rpc/append", { method: "POST", headers: { "content-type": "application/json" }, body });
    expect(appended.status).toBe(200);
    for (const operation of ["history", "events"]) {
      expect((await rpc(operation, { agent: "supportAgent", sessionId: "hostile" })).text).toContain(`"arguments":${args}`);
    }
    expect(Object.prototype).not.toHaveProperty("polluted");
  });

  test("NUL and lone surrogates in text, call ids, names and metadata come back as they went in", async () => {
    const { rpc } = appOf(await make());
    const odd = "a\0b\ud83d c\udc00";
    const created = await rpc("create", { agent: "supportAgent", metadata: { [odd]: odd } });
    const sessionId = created.json["sessionId"];
    const calls = [{ id: odd, type: "function", function: { name: "look", arguments: "{}" } }];
    const messages = [
      { role: "user", content: odd },
      { role: "assistant", content: null, tool_calls: calls },
      { role: "tool", tool_call_id: odd, name: "look", content: odd },
    ];
    expect((await rpc("append", { agent: "supportAgent", sessionId, messages })).status).toBe(200);
    expect((await rpc("messages", { agent: "supportAgent", sessionId })).json).toEqual(messages);
    const { json } = await rpc("history", { agent: "supportAgent", sessionId });
    expect(json["items"]).toMatchObject([{ content: [{ text: odd }] }, { callId: odd, status: "completed" }]);
    expect(json["metadata"]).toEqual({ [odd]: odd });
    const listed = await rpc("list", { agent: "supportAgent", metadata: { [odd]: odd } });
    expect(listed.json["items"]).toMatchObject([{ sessionId }]);
  });
});

describe("bad requests", () => {
  const json = { "content-type": "application/json" };

  async function send(path: string, init: RequestInit & { duplex?: "half" }): Promise<{ status: number; code: unknown }> {
    const { memoryStore } = await import("@orcha/server");
    const { app } = appOf(memoryStore());
    const response = await app.request(path, init);
    const body: { json?: { code?: unknown } } = JSON.parse(await response.text());
    return { status: response.status, code: body.json?.code };
  }

  test.each([
    ["no JSON", "/rpc/get", { method: "POST", headers: json, body: "{" }, 400, "invalid_input"],
    ["no object", "/rpc/get", { method: "POST", headers: json, body: "[]" }, 400, "invalid_input"],
    ["an empty body", "/rpc/get", { method: "POST", headers: json, body: "" }, 400, "invalid_input"],
    ["no body", "/rpc/get", { method: "POST" }, 400, "invalid_input"],
    ["a form", "/rpc/create", { method: "POST", body: new URLSearchParams({ data: '{"json":{}}' }) }, 415, "unsupported_format"],
    ["a multipart form", "/rpc/create", { method: "POST", body: formData() }, 415, "unsupported_format"],
    ["text", "/rpc/create", { method: "POST", headers: { "content-type": "text/plain" }, body: "{}" }, 415, "unsupported_format"],
    ["an unknown operation", "/rpc/drop", { method: "POST", headers: json, body: "{}" }, 404, "item_not_found"],
    ["an inherited name", "/rpc/constructor", { method: "POST", headers: json, body: "{}" }, 404, "item_not_found"],
    ["a path upwards", "/rpc/../../etc/passwd", { method: "GET" }, 404, "item_not_found"],
    ["an encoded path", "/rpc/%2e%2e%2fget", { method: "POST", headers: json, body: "{}" }, 404, "item_not_found"],
    ["a broken escape", "/rpc/%ff%fe", { method: "POST", headers: json, body: "{}" }, 404, "item_not_found"],
    ["another path", "/nothing/here", { method: "GET" }, 404, "item_not_found"],
    ["a write by GET", "/rpc/create?data=%7B%22json%22:%7B%22agent%22:%22supportAgent%22%7D%7D", { method: "GET" }, 400, "invalid_input"],
    ["bad data by GET", "/rpc/get?data=%7B", { method: "GET" }, 400, "invalid_input"],
    ["a bad key", "/rpc/create", { method: "POST", headers: { ...json, "idempotency-key": "a b" }, body: "{}" }, 400, "invalid_input"],
    ["a bad If-Match", "/rpc/create", { method: "POST", headers: { ...json, "if-match": "W/5" }, body: "{}" }, 400, "invalid_input"],
    ["a large body", "/rpc/create", { method: "POST", headers: json, body: `{"json":"${"x".repeat(maxBodyBytes)}"}` }, 413, "payload_too_large"],
    ["a large stream", "/rpc/create", { method: "POST", headers: json, body: stream(80), duplex: "half" }, 413, "payload_too_large"],
    ["deep JSON", "/rpc/create", { method: "POST", headers: json, body: `{"json":${"[".repeat(100_000)}${"]".repeat(100_000)}}` }, 400, "invalid_input"],
  ] as const)("%s", async (_name, path, init, status, code) => {
    expect(await send(path, init as RequestInit)).toEqual({ status, code });
  });

  test("a body of the largest size passes the gate", async () => {
    const padding = "x".repeat(maxBodyBytes - 100);
    expect(await send("/rpc/create", { method: "POST", headers: json, body: `{"json":{"agent":"${padding}"}}` })).toEqual({
      status: 404,
      code: "agent_not_found",
    });
  });
});

test.each(["create", "restore", "update"])("null is no metadata for %s", async (operation) => {
  const { rpc } = appOf(memoryStore());
  await rpc("create", { agent: "supportAgent", sessionId: "ses_a" });
  const own = { create: {}, restore: { messages: [] }, update: { sessionId: "ses_a" } }[operation];
  const { status, json } = await rpc(operation, { agent: "supportAgent", ...own, metadata: null });
  expect([status, json]).toMatchObject([400, { code: "invalid_input", data: { details: { path: "metadata" } } }]);
});

test.each([
  ["a field of the input", "create", { [long]: 1 }],
  ["a field of an event", "append", { events: [{ type: "run.started", data: {}, [long]: 1 }] }],
  ["a place in an event", "append", { events: [{ type: "action.requested", data: { callId: "c1", name: "n", arguments: { [long]: nested(long) } } }] }],
  ["a field of a result", "resume", { toolResults: [{ callId: "c1", output: 1, [long]: 1 }] }],
  ["a call id", "resume", { toolResults: [{ callId: long, output: 1 }] }],
])("a refusal names %s, however long, by its beginning", async (_name, operation, input) => {
  const { rpc } = appOf(memoryStore());
  await rpc("create", { agent: "supportAgent", sessionId: "ses_a" });
  const { status, text } = await rpc(operation, { agent: "supportAgent", ...(operation === "create" ? {} : { sessionId: "ses_a" }), ...input });
  expect(status).toBeGreaterThanOrEqual(400);
  expect(text).toContain("xxx");
  expect(text.length).toBeLessThan(3000);
});

test("a syntax error inside of an operation is the server's fault, not the body's", async () => {
  const told: unknown[] = [];
  const snapshot = () => Promise.reject(new SyntaxError("Unexpected end of JSON input"));
  const { rpc } = appOf({ ...memoryStore(), snapshot }, { onError: (error) => told.push(String(error)) });
  const { status, json } = await rpc("get", { agent: "supportAgent", sessionId: "ses_a" });
  expect([status, json["code"]]).toEqual([500, "execution_failed"]);
  expect(told).toEqual(["SyntaxError: Unexpected end of JSON input"]);
});

test.each([
  ["/rpc/append", {}],
  ["/rpc/append", { "content-length": "1000" }],
  ["/rpc/history", { "content-length": "1000" }],
  ["/api/agents/supportAgent/sessions", {}],
  ["/api/agents/supportAgent/sessions", { "content-length": "1000" }],
])("a body that breaks off at %s with %j is not the server's fault", async (path, headers) => {
  const told: unknown[] = [];
  const { request } = appOf(memoryStore(), { onError: (error) => told.push(error) });
  const body = new ReadableStream({
    pull(controller) {
      if (controller.desiredSize === 1) controller.enqueue(new TextEncoder().encode('{"json":'));
      else controller.error(new Error("aborted"));
    },
  }, { highWaterMark: 2 });
  const init = { method: "POST", headers: { "content-type": "application/json", ...headers }, body, duplex: "half" as const };
  const response = await request(new Request(`http://orcha.test${path}`, init));
  expect(response.status).toBe(errorTable.aborted.status);
  expect(await response.text()).toContain('"aborted"');
  expect(told).toEqual([]);
});

function formData(): FormData {
  const form = new FormData();
  form.set("data", '{"json":{"agent":"supportAgent"}}');
  return form;
}

/** A body of unknown length, in pieces of 64 KiB. */
function stream(pieces: number): ReadableStream<Uint8Array> {
  let sent = 0;
  return new ReadableStream({
    pull(controller) {
      if ((sent += 1) > pieces) controller.close();
      else controller.enqueue(new TextEncoder().encode("x".repeat(65_536)));
    },
  });
}
