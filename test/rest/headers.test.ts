import { contract, maxBodyBytes, OrchaError } from "@orcha/contract";
import { memoryStore, type Principal } from "@orcha/server";
import { serve } from "@orcha/server/node";
import { describe, expect, onTestFinished, test, vi } from "vitest";
import { agents } from "../agents.ts";
import { surroundings } from "../harness.ts";
import { cases, seed } from "./cases.ts";
import { bothOf, operations } from "./rest.ts";

const sessions = "/api/agents/supportAgent/sessions";
const json = { "content-type": "application/json" };

async function seeded(options: Parameters<typeof bothOf>[1] = {}) {
  const both = bothOf(memoryStore(), { surroundings: surroundings(), ...options });
  await seed(both.rpc);
  return both;
}

describe("every answer", () => {
  const paths = ["/api/nothing", "/nothing", "/healthz", "/readyz", "/api/agents", "/api/openapi.json", "/api/docs", "/api/docs.css"];

  test.each([sessions, `${sessions}/nowhere`, `${sessions}?page=1`, "/rpc/list", "/rpc/nothing", ...paths])("of %s is signed", async (path) => {
    const { send } = await seeded();
    const { headers } = await send(path, { headers: { "x-request-id": "mine-1" } });
    expect(headers.get("orcha-version")).toBe("1");
    expect(headers.get("x-request-id")).toBe("mine-1");
    expect(headers.get("x-content-type-options")).toBe("nosniff");
    expect(headers.get("cache-control")).toBe("no-store");
    expect(headers.get("content-security-policy")).toContain("default-src 'none'");
    expect(headers.get("access-control-allow-origin")).toBeNull();
  });

  test.each(["", " ", "a b", "x".repeat(129), "ünï"])("gets a name of its own where the caller's is %j", async (id) => {
    const { app } = await seeded();
    const headers = new Headers();
    headers.set("x-request-id", id);
    const made = (await app.request(sessions, { headers })).headers.get("x-request-id");
    expect(made).toMatch(/^[\x21-\x7e]{36}$/);
  });

  test("tells the operator under which name it failed", async () => {
    const told: unknown[] = [];
    const store = { ...memoryStore(), list: () => Promise.reject(new Error("secret")) };
    const { send } = bothOf(store, { onError: (error, at) => told.push(String(error), at) });
    for (const [path, init] of [[sessions, {}], ["/rpc/list", { method: "POST", headers: json, body: '{"json":{"agent":"supportAgent"}}' }]] as const) {
      const { status, text } = await send(path, { ...init, headers: { ...json, "x-request-id": "r1" } });
      expect(status).toBe(500);
      expect(text).not.toContain("secret");
    }
    const at = { operation: "/agents/{agent}/sessions", requestId: "r1" };
    expect(told).toEqual(["Error: secret", at, "Error: secret", { ...at, operation: "list" }]);
  });

  test.each([
    [new Error("connect ECONNREFUSED 10.0.0.7:5432\n    at a place"), "connect ECONNREFUSED 10.0.0.7:5432"],
    [Object.assign(new AggregateError([]), { code: "ECONNREFUSED" }), "ECONNREFUSED"],
  ])("tells of a database that is away in a line, not in a stack for each request", async (cause, why) => {
    const error = vi.spyOn(console, "error").mockReturnValue();
    const away = new OrchaError("storage_error", "the database can't be reached", { cause });
    const { send } = bothOf({ ...memoryStore(), list: () => Promise.reject(away) });
    const { status, text } = await send(sessions, { headers: { "x-request-id": "r1" } });
    expect([status, text.includes("ECONNREFUSED")]).toEqual([503, false]);
    expect(error.mock.calls).toEqual([
      ["orcha: /agents/{agent}/sessions failed in request r1", `storage_error: the database can't be reached (${why})`],
    ]);
  });
});

test.each(operations)("%s shows the sequence of a snapshot that it answers", async (operation) => {
  const { rest } = await seeded();
  const [{ input } = { input: {} }] = cases[operation];
  const { headers, json } = await rest(operation, input);
  const answer = json as { sequence?: number; session?: { sequence: number }; updatedAt?: string; status?: string } | undefined;
  const sequence = answer?.session?.sequence ?? (answer?.updatedAt === undefined ? undefined : answer.sequence);
  expect(headers.get("etag")).toBe(sequence === undefined ? null : `"${sequence}"`);
});

test("a made session says where it is; a deleted one has no body", async () => {
  const { rest, send } = await seeded();
  for (const operation of ["create", "restore", "fork"] as const) {
    const [{ input } = { input: {} }] = cases[operation];
    const { status, headers } = await rest(operation, input);
    const location = headers.get("location") ?? "";
    expect([status, location]).toEqual([201, expect.stringMatching(/^\/api\/agents\/supportAgent\/sessions\/ses_/)]);
    expect((await send(location)).status).toBe(200);
  }
  const gone = await rest("delete", { agent: "supportAgent", sessionId: "ses_1" });
  expect([gone.status, gone.text]).toEqual([204, ""]);
  expect(gone.headers.get("content-type")).toBeNull();
});

test.each(['"12"', "12", '"12-gzip"', 'W/"12"', '"12-br"'])("an ETag goes back as If-Match: %s", async (ifMatch) => {
  const { send } = await seeded();
  expect((await send(`${sessions}/ses_1`)).headers.get("etag")).toBe('"12"');
  const init = { method: "PATCH", headers: { ...json, "if-match": ifMatch }, body: '{"name":"n"}' };
  expect((await send(`${sessions}/ses_1`, init)).headers.get("etag")).toBe('"13"');
  const { status, json: body } = await send(`${sessions}/ses_1`, init);
  expect([status, body]).toEqual([409, expect.objectContaining({ code: "sequence_conflict" })]);
});

test.each(['"12', '12"', '"12-gzip', 'W/"12', "W/12", '""12""', "'12'", '"12", "13"', "*"])("an If-Match that is no sequence is refused: %s", async (ifMatch) => {
  const { send } = await seeded();
  const { status, json: body } = await send(`${sessions}/ses_1`, { method: "PATCH", headers: { ...json, "if-match": ifMatch }, body: '{"name":"n"}' });
  expect([status, body]).toEqual([400, expect.objectContaining({ code: "invalid_input", details: { path: "ifSequence" } })]);
});

test.each(["", "/history", "/events", "/history?page=2&pageSize=3"])("a reader who has %j of a session gets no second copy of it", async (path) => {
  const { send } = await seeded();
  const url = `${sessions}/ses_1${path}`;
  for (const known of ['"12"', 'W/"12"', '"12-br"', '"3", "12"', "*"]) {
    const { status, text, headers } = await send(url, { headers: { "if-none-match": known } });
    expect([status, text, headers.get("etag"), headers.get("cache-control")], `to ${known}`).toEqual([304, "", '"12"', "no-store"]);
  }
  expect((await send(url, { method: "HEAD", headers: { "if-none-match": '"12"' } })).status).toBe(304);
  for (const other of ['"11"', "12", '"120"']) expect((await send(url, { headers: { "if-none-match": other } })).status).toBe(200);
  await send(`${sessions}/ses_1`, { method: "PATCH", headers: json, body: '{"name":"n"}' });
  expect((await send(url, { headers: { "if-none-match": '"12"' } })).status).toBe(200);
  expect((await send(`${sessions}/nowhere`, { headers: { "if-none-match": "*" } })).status).toBe(404);
});

test("an error says how long to wait, in whole seconds", async () => {
  const limited = new OrchaError("rate_limited", "slower", { details: { retryAfterMs: 1200 } });
  const { send } = bothOf(memoryStore(), { auth: () => Promise.reject(limited) });
  const { status, headers, json: body } = await send(sessions);
  expect([status, headers.get("retry-after"), headers.get("content-type")]).toEqual([429, "2", "application/json"]);
  expect(body).toEqual({ code: "rate_limited", message: "slower", retryable: true, details: { retryAfterMs: 1200 } });
  expect((await send("/rpc/list")).headers.get("retry-after")).toBe("2");
});

describe("the gate", () => {
  const auth = ({ headers }: Request): Principal | undefined => {
    const scope = headers.get("authorization")?.replace("Bearer ", "");
    return scope === undefined ? undefined : { tenant: "acme", scopes: [scope as "read"] };
  };

  test.each(operations)("of %s asks who calls before it reads anything", async (operation) => {
    const { rest } = bothOf(memoryStore(), { auth });
    const nonsense = { agent: "nobody", sessionId: "-", nonsense: "x" };
    const { scope } = contract[operation]["~orpc"].meta;
    const unknown = await rest(operation, nonsense);
    expect([unknown.status, unknown.headers.get("www-authenticate")]).toEqual([401, "Bearer"]);
    const other = await rest(operation, nonsense, { authorization: `Bearer ${scope === "read" ? "write" : "read"}` });
    expect([other.status, other.json]).toEqual([403, expect.objectContaining({ code: "forbidden", details: { scope } })]);
    expect((await rest(operation, nonsense, { authorization: `Bearer ${scope}` })).status).toBe(400);
  });

  test.each([sessions, "/rpc/create"])("of %s doesn't wait for a stranger's body, nor counts it", async (path) => {
    const { send } = bothOf(memoryStore(), { auth });
    const endless = new ReadableStream({ pull: () => new Promise(() => {}) });
    const sent = { method: "POST", headers: json, body: endless, duplex: "half" } as RequestInit;
    expect((await send(path, sent)).status).toBe(401);
    expect((await send(path, { ...sent, body: "x".repeat(maxBodyBytes + 1) })).status).toBe(401);
  });

  test("of the agents asks for read; the document is for everybody", async () => {
    const { send } = bothOf(memoryStore(), { auth });
    expect((await send("/api/agents")).status).toBe(401);
    expect((await send("/api/agents", { headers: { authorization: "Bearer write" } })).status).toBe(403);
    expect((await send("/api/agents", { headers: { authorization: "Bearer read" } })).status).toBe(200);
    expect((await send("/api/openapi.json")).status).toBe(200);
  });

  test.each([
    ["a form", { method: "POST", body: new URLSearchParams({ name: "x" }) }, 415, "unsupported_format"],
    ["text", { method: "POST", headers: { "content-type": "text/plain" }, body: "{}" }, 415, "unsupported_format"],
    ["no JSON", { method: "POST", headers: json, body: "{" }, 400, "invalid_input"],
    ["a list", { method: "POST", headers: json, body: "[]" }, 400, "invalid_input"],
    ["a large body", { method: "POST", headers: json, body: `{"name":"${"x".repeat(maxBodyBytes)}"}` }, 413, "payload_too_large"],
    ["deep JSON", { method: "POST", headers: json, body: `{"messages":${"[".repeat(65)}${"]".repeat(65)}}` }, 400, "invalid_input"],
    ["another method", { method: "PUT", headers: json, body: "{}" }, 400, "invalid_input"],
    ["a body that repeats the path", { method: "POST", headers: json, body: '{"agent":"supportAgent"}' }, 400, "invalid_input"],
  ] as const)("refuses %s", async (_name, init, status, code) => {
    const { send } = bothOf(memoryStore());
    expect(await send(sessions, init as RequestInit)).toMatchObject({ status, json: { code } });
    expect((await send(sessions)).json).toEqual({ items: [] });
  });

  test("takes an empty body without its type, but not from a page, which a browser would let through unasked", async () => {
    const store = memoryStore();
    const server = await serve({ agents, store, port: 0 });
    onTestFinished(() => server.close());
    await seed(bothOf(store).rpc);
    const url = `${server.url}${sessions}/empty`;
    expect((await fetch(`${url}/fork`, { method: "POST", headers: { origin: "http://localhost:5173" } })).status).toBe(415);
    expect((await fetch(`${url}/fork`, { method: "POST" })).status).toBe(201);
    expect((await fetch(`${url}/fork`, { method: "POST", body: new Blob(["{}"]) })).status).toBe(415);
    expect((await fetch(`${url}/fork`, { method: "POST", body: new Blob(["{}"]).stream(), duplex: "half" } as RequestInit)).status).toBe(415);
    expect((await fetch(url, { method: "DELETE", headers: { origin: "http://localhost:5173" } })).status).toBe(204);
  });

  test("of a server without auth answers pages elsewhere in REST's words", async () => {
    const server = await serve({ agents, store: memoryStore(), port: 0 });
    onTestFinished(() => server.close());
    const response = await fetch(`${server.url}${sessions}`, { headers: { origin: "https://evil.example", "x-request-id": "r" } });
    expect(await response.json()).toMatchObject({ code: "forbidden", retryable: false });
    expect([response.status, response.headers.get("x-request-id")]).toEqual([403, "r"]);
  });
});

describe("CORS by configuration", () => {
  const origin = "https://app.example";
  const cors = { origins: [origin] };

  test("answers a preflight of a listed page, without asking who calls", async () => {
    const { send } = bothOf(memoryStore(), { cors, auth: () => undefined });
    const asked = { origin, "access-control-request-method": "PATCH", "access-control-request-headers": "if-match" };
    const { status, headers } = await send(`${sessions}/x`, { method: "OPTIONS", headers: asked });
    expect(status).toBe(204);
    expect(headers.get("access-control-allow-origin")).toBe(origin);
    expect(headers.get("access-control-allow-methods")).toContain("PATCH");
    expect(headers.get("access-control-allow-headers")).toBe("authorization,content-type,idempotency-key,if-match,if-none-match,last-event-id,x-request-id");
  });

  test("lets a listed page read answers and errors, of REST and RPC, and no other page", async () => {
    const { send } = bothOf(memoryStore(), { cors });
    for (const path of [sessions, `${sessions}/nowhere`, "/rpc/list", "/nothing"]) {
      const { headers } = await send(path, { headers: { origin } });
      expect(headers.get("access-control-allow-origin")).toBe(origin);
      expect(headers.get("access-control-expose-headers")).toBe("etag,location,orcha-version,x-request-id,retry-after");
      expect(headers.get("vary")).toMatch(/origin/i);
      expect(headers.get("orcha-version")).toBe("1");
      expect((await send(path, { headers: { origin: "https://evil.example" } })).headers.get("access-control-allow-origin")).toBeNull();
    }
  });

  test.each(["app.example", "https://app.example/", "https://app.example/path", "null", ""])("refuses %j as an origin", (bad) => {
    expect(() => bothOf(memoryStore(), { cors: { origins: [origin, bad] } })).toThrow("cors.origins[1]");
  });

  test("without it, a page elsewhere reads nothing", async () => {
    const { send } = bothOf(memoryStore());
    const { status, headers } = await send(sessions, { method: "OPTIONS", headers: { origin, "access-control-request-method": "GET" } });
    expect([status, headers.get("access-control-allow-origin")]).toEqual([400, null]);
  });
});
