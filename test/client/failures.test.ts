import { inspect } from "node:util";
import { setTimeout as sleep } from "node:timers/promises";
import { createOrcha, OrchaError, type OrchaOptions } from "@orcha/client";
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import type { agents } from "./agents.ts";
import { breakOff, drop, failure, hang, raw, snapshot, startWireServer, success, type Reply, type WireServer } from "./wire-server.ts";

let server: WireServer;
beforeAll(async () => {
  server = await startWireServer();
});
afterAll(() => server.close());

const never = () => new Promise<never>(() => undefined);
const quick = { minDelayMs: 1, maxDelayMs: 3 };

function create(options: Partial<OrchaOptions<typeof agents>> = {}) {
  return createOrcha<typeof agents>({ baseUrl: server.baseUrl, retry: quick, ...options }).supportAgent;
}

describe("retries", () => {
  it("repeat a write with the same key until it goes through", async () => {
    server.replyWith(drop, failure(503, "too_busy", { retryable: true }), success(snapshot));
    await expect(create().create({ name: "A" })).resolves.toEqual(snapshot);
    const keys = server.requests.map(({ headers }) => headers["idempotency-key"]);
    expect(keys).toHaveLength(3);
    expect(new Set(keys).size).toBe(1);
    expect(keys[0]).toMatch(/./);
    expect(new Set(server.requests.map(({ text }) => text)).size).toBe(1);
  });

  it("repeat a read, also when the answer breaks off", async () => {
    server.replyWith(breakOff, raw(502, "<html>Bad gateway</html>", { "content-type": "text/html" }), success(snapshot));
    await expect(create().get("ses_1")).resolves.toEqual(snapshot);
    expect(server.requests).toHaveLength(3);
  });

  it("end after the given number of attempts with the last error", async () => {
    server.replyWith(drop, failure(503, "storage_error", { retryable: true, details: { shard: 3 } }));
    const failed = create({ retry: { ...quick, attempts: 2 } }).get("ses_1");
    await expect(failed).rejects.toMatchObject({ code: "storage_error", retryable: true, status: 503, details: { shard: 3 } });
    expect(server.requests).toHaveLength(2);
  });

  it.each([
    [400, "invalid_input"],
    [409, "sequence_conflict"],
    [422, "idempotency_conflict"],
    [500, "execution_failed"],
  ])("leave %i %s alone", async (status, code) => {
    server.replyWith(failure(status, code), success(snapshot));
    await expect(create().create()).rejects.toMatchObject({ code, status, retryable: false });
    expect(server.requests).toHaveLength(1);
  });

  it("can be turned off", async () => {
    server.replyWith(drop);
    await expect(create({ retry: false }).get("ses_1")).rejects.toMatchObject({ code: "network", retryable: true });
    expect(server.requests).toHaveLength(1);
  });

  it("ask for token and headers at every attempt", async () => {
    server.replyWith(drop, drop, success(snapshot));
    let asked = 0;
    await create({ token: async () => `token-${(asked += 1)}`, headers: () => ({ "x-asked": String(asked) }) }).get("ses_1");
    expect(server.requests.map(({ headers }) => headers["authorization"])).toEqual(["Bearer token-1", "Bearer token-2", "Bearer token-3"]);
  });

  it.each<[string, Reply]>([
    ["its details", failure(429, "rate_limited", { retryable: true, details: { retryAfterMs: 40 } })],
    ["its header", failure(429, "rate_limited", { retryable: true }, { "retry-after": "60" })],
    ["a gateway's header", raw(503, "busy", { "content-type": "text/plain", "retry-after": "60" })],
  ])("wait as long as the server asks in %s, within bounds", async (_where, reply) => {
    server.replyWith(reply, success(snapshot));
    const start = performance.now();
    await create({ retry: { minDelayMs: 1, maxDelayMs: 5 } }).get("ses_1");
    const waited = performance.now() - start;
    expect(waited).toBeGreaterThan(28);
    expect(waited).toBeLessThan(30_000);
  });

  it("tell how long the server asked for", async () => {
    server.replyWith(failure(429, "rate_limited", { retryable: true, details: { limit: 5 } }, { "retry-after": "2" }));
    const { error } = await create({ retry: false }).get.safe("ses_1");
    expect(error?.details).toEqual({ limit: 5, retryAfterMs: 2000 });
    server.replyWith(failure(429, "rate_limited", {}, { "retry-after": new Date(Date.now() + 60_000).toUTCString() }));
    const dated = await create({ retry: false }).get.safe("ses_1");
    expect(dated.error?.details?.["retryAfterMs"]).toSatisfy((ms: number) => ms > 50_000 && ms <= 60_000);
    server.replyWith(failure(429, "rate_limited", {}, { "retry-after": "soon" }));
    expect((await create({ retry: false }).get.safe("ses_1")).error?.details).toBe(undefined);
  });
});

describe("abort", () => {
  it("before the call sends nothing", async () => {
    server.replyWith(success(snapshot));
    const reason = new Error("left the page");
    const failed = create().get("ses_1", { signal: AbortSignal.abort(reason) });
    await expect(failed).rejects.toMatchObject({ code: "aborted", retryable: false, cause: reason });
    expect(server.requests).toHaveLength(0);
  });

  it("during an attempt ends it, and nothing is repeated", async () => {
    server.replyWith(hang);
    const controller = new AbortController();
    const failed = create().create({ signal: controller.signal });
    await vi.waitUntil(() => server.requests.length === 1, { interval: 2 });
    controller.abort();
    await expect(failed).rejects.toMatchObject({ code: "aborted" });
    await sleep(10);
    expect(server.requests).toHaveLength(1);
  });

  it("closes the connection, and so does an answer that is not read", async () => {
    const closed = vi.fn<() => void>();
    server.replyWith((response) => {
      response.on("close", closed);
    });
    const controller = new AbortController();
    const failed = create().get.safe("ses_1", { signal: controller.signal });
    await vi.waitUntil(() => server.requests.length === 1, { interval: 2 });
    controller.abort();
    expect((await failed).error?.code).toBe("aborted");
    await vi.waitUntil(() => closed.mock.calls.length === 1, { interval: 2 });
    server.replyWith((response) => {
      response.on("close", closed);
      response.writeHead(200, { "content-type": "text/html" });
      response.write("<html>");
    });
    expect((await create().get.safe("ses_1")).error?.code).toBe("unexpected");
    await vi.waitUntil(() => closed.mock.calls.length === 2, { interval: 2 });
  });

  it("during a wait ends it at once", async () => {
    server.replyWith(failure(503, "too_busy", { retryable: true, details: { retryAfterMs: 60_000 } }));
    const controller = new AbortController();
    const failed = create({ retry: { minDelayMs: 30_000, maxDelayMs: 30_000 } }).get("ses_1", { signal: controller.signal });
    await vi.waitUntil(() => server.requests.length === 1, { interval: 2 });
    await sleep(10);
    const start = performance.now();
    controller.abort();
    await expect(failed).rejects.toMatchObject({ code: "aborted" });
    expect(performance.now() - start).toBeLessThan(5000);
  });

  it("leaves no listener behind", async () => {
    server.replyWith(drop, success(snapshot));
    const { signal } = new AbortController();
    const added = vi.spyOn(signal, "addEventListener");
    const removed = vi.spyOn(signal, "removeEventListener");
    await create().get("ses_1", { signal });
    expect(added.mock.calls.length).toBeGreaterThan(0);
    expect(removed.mock.calls.length).toBeGreaterThanOrEqual(added.mock.calls.length);
  });
});

describe("the time limit", () => {
  it("ends each attempt, and the next one may succeed", async () => {
    server.replyWith(hang, success(snapshot));
    await expect(create({ timeoutMs: 30 }).create()).resolves.toEqual(snapshot);
    expect(server.requests[0]?.headers["idempotency-key"]).toBe(server.requests[1]?.headers["idempotency-key"]);
  });

  it("is told as timeout", async () => {
    server.replyWith(hang);
    const failed = create({ timeoutMs: 15, retry: { ...quick, attempts: 2 } }).get("ses_1");
    await expect(failed).rejects.toMatchObject({ code: "timeout", retryable: true, message: "no answer within 15 ms" });
    expect(server.requests).toHaveLength(2);
  });

  it("holds for an answer that never ends", async () => {
    server.replyWith((response) => {
      response.writeHead(200, { "content-type": "application/json" });
      response.write('{"json":');
    });
    await expect(create({ timeoutMs: 20, retry: false }).get("ses_1")).rejects.toMatchObject({ code: "timeout" });
  });

  it("holds for a fetch or a token that ignores the signal", async () => {
    await expect(create({ timeoutMs: 10, retry: false, fetch: never }).get("ses_1")).rejects.toMatchObject({ code: "timeout" });
    await expect(create({ timeoutMs: 10, retry: false, token: never }).get("ses_1")).rejects.toMatchObject({ code: "timeout" });
  });
});

describe("what is not Orcha's answer", () => {
  it.each<[string, Reply]>([
    ["HTML with 200", raw(200, "<html>Sign in</html>", { "content-type": "text/html" })],
    ["HTML with 404", raw(404, "<html>Not found</html>", { "content-type": "text/html" })],
    ["HTML with 400", raw(400, "oops", { "content-type": "text/plain" })],
    ["broken JSON", raw(200, '{"json":')],
    ["nothing", raw(200, "")],
    ["another JSON", raw(200, '{"items":[]}')],
    ["a bare value", raw(200, "7")],
    ["another error", raw(400, '{"error":"bad"}')],
    ["a redirect", raw(302, "", { location: "https://example.com/login" })],
    ["a stream", raw(200, "event: message\n\n", { "content-type": "text/event-stream" })],
  ])("is unexpected: %s", async (_what, reply) => {
    server.replyWith(reply);
    await expect(create().get("ses_1")).rejects.toMatchObject({ name: "OrchaError", code: "unexpected", retryable: false });
    expect(server.requests).toHaveLength(1);
  });

  it.each<[string, Reply]>([
    ["HTML", raw(200, "<html>Sign in</html>", { "content-type": "text/html" })],
    ["nothing", raw(200, "")],
    ["a redirect", raw(302, "")],
  ])("is no confirmation of a delete either: %s", async (_what, reply) => {
    server.replyWith(reply);
    await expect(create().delete("ses_1")).rejects.toMatchObject({ code: "unexpected" });
  });

  // A development server's proxy says 500 where nobody listens, and CDNs say 520 and above.
  it.each([429, 500, 502, 503, 504, 522])("is network when a gateway says %i", async (status) => {
    server.replyWith(raw(status, "<html></html>", { "content-type": "text/html" }));
    await expect(create().get("ses_1")).rejects.toMatchObject({ code: "network", retryable: true });
    expect(server.requests).toHaveLength(3);
  });

  it("is unexpected when the envelope holds no history", async () => {
    server.replyWith(success({ hello: "there" }));
    await expect(create().history("ses_1")).rejects.toMatchObject({ code: "unexpected", cause: expect.any(TypeError) });
  });
});

describe("errors", () => {
  it("of a newer server keep their code and details", async () => {
    server.replyWith(failure(418, "teapot", { details: { path: "pot" } }));
    const { error } = await create().get.safe("ses_1");
    expect(error).toBeInstanceOf(OrchaError);
    expect(error).toMatchObject({ code: "teapot", status: 418, retryable: false, details: { path: "pot" } });
  });

  it("may come without data", async () => {
    const body = { json: { defined: false, code: "INTERNAL_SERVER_ERROR", status: 500, message: "Internal server error" } };
    server.replyWith(raw(500, JSON.stringify(body)));
    await expect(create().get("ses_1")).rejects.toMatchObject({ code: "INTERNAL_SERVER_ERROR", retryable: false, details: undefined });
  });

  it("of the network keep their cause and never show the token", async () => {
    server.replyWith(drop);
    const { error } = await create({ token: "secret-token", retry: false }).get.safe("ses_1");
    expect(error).toMatchObject({ code: "network", status: undefined, cause: expect.any(TypeError) });
    expect(inspect(error, { depth: 9 })).not.toContain("secret-token");
  });
});

describe("resume", () => {
  const toolResults = [{ callId: "c1", output: { approved: true } }];
  const recorded = { status: "recorded", sessionId: "ses_1", sequence: 9, pendingClientActions: [] };

  it("returns at once and is no promise", async () => {
    server.replyWith(success(recorded));
    const execution = create().resume("ses_1", { toolResults }, { idempotencyKey: "k", ifSequence: 8 });
    expect(execution.sessionId).toBe("ses_1");
    expect("then" in execution).toBe(false);
    expect(await execution.result).toEqual(recorded);
    expect(server.requests[0]).toMatchObject({ path: "/rpc/resume", headers: { "idempotency-key": "k", "if-match": '"8"' } });
  });

  it.each([
    [409, "action_result_conflict"],
    [404, "session_not_found"],
    [409, "aborted"],
    [503, "too_busy"],
    [418, "teapot"],
  ])("resolves as failed for what the server answered: %i %s", async (status, code) => {
    const data = { retryable: status === 503, details: { callId: "c1" } };
    server.replyWith(failure(status, code, data));
    await expect(create().resume("ses_1", { toolResults }).result).resolves.toEqual({
      status: "failed",
      sessionId: "ses_1",
      error: { code, message: `because of ${code}`, ...data },
    });
  });

  it.each<[string, Reply]>([
    ["network", drop],
    ["timeout", hang],
    ["unexpected", raw(200, "<html></html>", { "content-type": "text/html" })],
  ])("rejects where the outcome is unknown: %s", async (code, reply) => {
    server.replyWith(reply);
    const { result } = create(code === "timeout" ? { timeoutMs: 15 } : {}).resume("ses_1", { toolResults });
    await expect(result).rejects.toMatchObject({ name: "OrchaError", code });
  });

  it("rejects when aborted", async () => {
    server.replyWith(hang);
    const { result } = create().resume("ses_1", { toolResults }, { signal: AbortSignal.timeout(5) });
    await expect(result).rejects.toMatchObject({ code: "aborted", cause: expect.objectContaining({ name: "TimeoutError" }) });
  });

  it("is no unhandled rejection when nobody reads the result", async () => {
    const unhandled = vi.fn<() => void>();
    process.on("unhandledRejection", unhandled);
    try {
      create().resume("ses_1", { toolResults }, { signal: AbortSignal.abort() });
      await sleep(10);
      expect(unhandled).not.toHaveBeenCalled();
    } finally {
      process.off("unhandledRejection", unhandled);
    }
  });
});
