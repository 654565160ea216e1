import { errorTable, type ErrorCode } from "@orcha/contract";
import { bearerTokens, createService, memoryStore } from "@orcha/server";
import { setupOrcha } from "@orcha/testing/node";
import { http, HttpResponse } from "msw/http";
import { describe, expect, test, vi } from "vitest";
import { agents } from "../runs/agents.ts";
import { setting } from "./setting.ts";

const sessions = [{ sessionId: "ses_1", messages: [{ role: "user" as const, content: "Hi" }] }];
const once = { retry: false as const };
const base = "https://agents.example.com";

describe("a request that a test lets fail", () => {
  test.each(Object.keys(errorTable) as ErrorCode[])("says %s as a server would, by RPC and by REST", async (code) => {
    const { mock, app } = await setting({ supportAgent: { sessions } }, {}, once);
    const { status, retryable } = errorTable[code];
    mock.failNext("history", code);
    const { error } = await app.supportAgent.history.safe("ses_1");
    expect(error).toMatchObject({ code, status, retryable });
    mock.failNext("history", { code, message: "said", details: { path: "here" }, retryable: !retryable });
    const response = await fetch(`${base}/api/agents/supportAgent/sessions/ses_1/history`);
    expect(response.status).toBe(status);
    expect(await response.json()).toEqual({ code, message: "said", retryable: !retryable, details: { path: "here" } });
    expect(await app.supportAgent.history("ses_1")).toMatchObject({ total: 1 });
  });

  test("is tried again by the client, as often as it should", async () => {
    const { mock, app } = await setting({ supportAgent: { sessions } });
    mock.failNext("history", "storage_error", 2);
    expect(await app.supportAgent.history("ses_1")).toMatchObject({ total: 1 });
    mock.failNext("append", "network", 2);
    await app.supportAgent.append("ses_1", { messages: [{ role: "user", content: "once" }] });
    expect(await app.supportAgent.history("ses_1")).toMatchObject({ total: 2 });
    expect(mock.requests.map(({ operation, status }) => `${operation} ${status ?? "-"}`)).toEqual([
      "history 503",
      "history 503",
      "history 200",
      "append -",
      "append -",
      "append 200",
      "history 200",
    ]);
    const keys = mock.requests.slice(3, 6).map(({ headers }) => headers.get("idempotency-key"));
    expect(new Set(keys).size).toBe(1);
  });

  test("says when to come again", async () => {
    const { mock, app } = await setting({ supportAgent: { sessions } }, {}, once);
    mock.failNext("get", { code: "rate_limited", details: { retryAfterMs: 1500 } });
    expect(await app.supportAgent.get.safe("ses_1")).toMatchObject({ error: { code: "rate_limited", details: { retryAfterMs: 1500 } } });
  });

  test("finds no connection, or no answer", async () => {
    const { mock, app } = await setting({ supportAgent: { sessions } }, {}, { ...once, timeoutMs: 50 });
    mock.failNext("get", "network");
    expect(await app.supportAgent.get.safe("ses_1")).toMatchObject({ error: { code: "network" } });
    mock.failNext("get", "timeout");
    expect(await app.supportAgent.get.safe("ses_1")).toMatchObject({ error: { code: "timeout" } });
    mock.failNext("run", "network");
    await expect(app.supportAgent.run("Hi").result).rejects.toMatchObject({ code: "network" });
  });
});

describe("a stream that a test cuts", () => {
  test("after frames, or in the midst of one", async () => {
    const { mock, app } = await setting({ supportAgent: { sessions } });
    for (const cut of [{ afterFrames: 1 }, { afterBytes: 30 }, { afterFrames: 0 }]) {
      mock.cutNext("tail", cut);
      const before = mock.requests.length;
      const items = new Map<string, unknown>();
      for await (const frame of app.supportAgent.tail("ses_1", { after: 0 })) {
        if (frame.type === "item") items.set(frame.item.id, frame.item);
        if (frame.type === "ready") break;
      }
      expect([...items.keys()]).toEqual(["message:2"]);
      expect(mock.requests.slice(before).filter(({ operation }) => operation === "tail")).toHaveLength(2);
    }
  });

  test("after as many frames as it says, also where several come at once", async () => {
    const messages = ["One", "Two", "Three"].map((content) => ({ role: "user" as const, content }));
    const { mock, app } = await setting({ supportAgent: { sessions: [{ sessionId: "ses_1", messages }] } });
    mock.cutNext("tail", { afterFrames: 2 });
    const heard: string[] = [];
    for await (const frame of app.supportAgent.tail("ses_1", { after: 0, onDisconnect: () => heard.push("cut") })) {
      heard.push(frame.type);
      if (frame.type === "ready") break;
    }
    expect(heard).toEqual(["item", "item", "cut", "item", "item", "item", "snapshot", "ready"]);
  });

  test("now, of one session or of all", async () => {
    const { mock, app } = await setting({ supportAgent: { sessions: [...sessions, { sessionId: "ses_2" }] } });
    const tails = ["ses_1", "ses_2"].map((sessionId) => app.supportAgent.tail(sessionId)[Symbol.asyncIterator]());
    for (const frames of tails) await frames.next();
    expect([mock.cut("ses_1"), mock.cut("ses_3")]).toEqual([1, 0]);
    expect(mock.cut()).toBe(1);
    expect(mock.cut()).toBe(0);
    for (const frames of tails) await frames.return?.(undefined);
  });

  test("is over for the server too when its reader leaves", async () => {
    const { mock, app } = await setting({ supportAgent: { sessions } });
    for await (const frame of app.supportAgent.tail("ses_1")) if (frame.type === "ready") break;
    await expect.poll(() => mock.cut()).toBe(0);
    const controller = new AbortController();
    const { stream } = app.supportAgent.resume("ses_1", "Hi", { signal: controller.signal });
    controller.abort();
    await stream.cancel();
    await expect.poll(() => mock.cut()).toBe(0);
  });
});

test("notes what the app asked for, by RPC and by REST, and not what the test asks itself", async () => {
  const { mock, app } = await setting({ supportAgent: { sessions } });
  await mock.orcha.supportAgent.history("ses_1");
  await app.supportAgent.history("ses_1", { page: 2, pageSize: 10 });
  await app.supportAgent.update("ses_1", { name: "Named" }, );
  await app.supportAgent.update("ses_1", { metadata: { plan: "paid" }, ifSequence: 3 });
  await fetch(`${base}/api/agents/supportAgent/sessions/ses_1/events?pageSize=5`);
  await fetch(`${base}/api/agents/supportAgent/sessions`, { method: "POST", headers: { "content-type": "application/json" }, body: JSON.stringify({ messages: [] }) });
  expect(mock.requests.map(({ operation, input, status }) => ({ operation, input, status }))).toEqual([
    { operation: "history", input: { agent: "supportAgent", sessionId: "ses_1", page: 2, pageSize: 10 }, status: 200 },
    { operation: "update", input: { agent: "supportAgent", sessionId: "ses_1", name: "Named" }, status: 200 },
    { operation: "update", input: { agent: "supportAgent", sessionId: "ses_1", metadata: { plan: "paid" } }, status: 200 },
    { operation: "events", input: { agent: "supportAgent", sessionId: "ses_1", pageSize: "5" }, status: 200 },
    { operation: "restore", input: { agent: "supportAgent", messages: [] }, status: 201 },
  ]);
  expect(mock.requests[2]?.headers.get("if-match")).toBe('"3"');
});

test("stands at one address, behind a prefix, and leaves everything else alone", async () => {
  const { mock, app } = await setting({ supportAgent: { sessions } }, { baseUrl: "https://app.example.com/agents/" }, { baseUrl: "https://app.example.com/agents" });
  expect(await app.supportAgent.get("ses_1")).toMatchObject({ sessionId: "ses_1" });
  expect(await (await fetch("https://app.example.com/agents/api/openapi.json")).json()).toHaveProperty("openapi");
  mock.server.use(http.get("https://app.example.com/api/users", () => HttpResponse.json(["Alice"])));
  expect(await (await fetch("https://app.example.com/api/users")).json()).toEqual(["Alice"]);
  // msw says on the console what nobody handles.
  vi.spyOn(console, "error").mockImplementation(() => {});
  await expect(fetch("https://elsewhere.example.com/rpc/get")).rejects.toThrow("fetch");
});

test("answers addresses that look like others, or that nobody can read, as a server does", async () => {
  const { mock } = await setting({ supportAgent: { sessions: ["api", "rpc"].map((sessionId) => ({ sessionId })) } });
  for (const id of ["api", "rpc"]) {
    const response = await fetch(`${base}/api/agents/supportAgent/sessions/${id}/history`);
    expect(await response.json()).toMatchObject({ sessionId: id });
  }
  const unreadable = "/api/agents/supportAgent/sessions/%E0%A4%A/history";
  const { app } = createService({ agents, store: memoryStore() });
  const expected = await app.request(unreadable);
  const response = await fetch(base + unreadable);
  expect(response.status).toBe(expected.status);
  expect(await response.json()).toEqual(await expected.json());
  expect(mock.requests.at(-1)).toMatchObject({ operation: "history", input: { sessionId: "%E0%A4%A" } });
});

test("closes as often as it is asked to, and where it never listened", async () => {
  await expect(setupOrcha(agents, {}).close()).resolves.toBe(undefined);
  const { mock } = await setting({});
  await mock.close();
  await expect(mock.close()).resolves.toBe(undefined);
});

test("lets in whom a server would", async () => {
  const auth = bearerTokens([{ token: "reader-reader-reader-reader-1234", tenant: "default", subject: "alice", scopes: ["read"] }]);
  const { mock, app } = await setting({ supportAgent: { sessions } }, { auth }, { token: "reader-reader-reader-reader-1234" });
  expect(await app.supportAgent.get("ses_1")).toMatchObject({ sessionId: "ses_1" });
  expect(await app.supportAgent.messages.safe("ses_1")).toMatchObject({ error: { code: "forbidden", details: { scope: "log" } } });
  expect(await (await fetch(`${base}/api/agents`)).json()).toMatchObject({ code: "unauthorized" });
  expect(await mock.orcha.supportAgent.messages("ses_1")).toHaveLength(1);
});

test("what a test left open ends with it, and asks nothing of the next one", async () => {
  const { mock, app } = await setting({ supportAgent: { sessions, script: [{ text: "First.", hangs: true }, { text: "Second." }] } });
  const run = app.supportAgent.run({ sessionId: "ses_left", content: "Hi" });
  for await (const frame of run.stream) if (frame.status === "streaming") break;
  const frames: string[] = [];
  const reading = (async () => {
    for await (const frame of app.supportAgent.tail("ses_1")) frames.push(frame.type);
  })();
  mock.failNext("append", "network", 99);
  const appending = app.supportAgent.append.safe("ses_1", { messages: [{ role: "user", content: "late" }] });
  await expect.poll(() => mock.requests.length).toBeGreaterThan(3);
  await mock.reset();
  await reading;
  expect(frames).toEqual(["ready", "end"]);
  expect(await run.result).toMatchObject({ status: "failed", error: { code: "aborted" } });
  expect(["aborted", "network"]).toContain((await appending).error?.code);
  expect(mock.requests).toEqual([]);
  expect(await mock.orcha.supportAgent.get("ses_1")).toMatchObject({ sequence: 2 });
  expect(await app.supportAgent.get.safe("ses_left")).toMatchObject({ error: { code: "session_not_found" } });
});

test("goes back to the start between tests, and is gone in the end", async () => {
  const { mock, app } = await setting({ supportAgent: { sessions, script: [{ text: "First." }] } }, {}, once);
  const run = async () => app.supportAgent.run({ sessionId: "ses_new", content: "Hi" }).result;
  for (let round = 0; round < 2; round += 1) {
    mock.failNext("get", "storage_error", 9);
    expect(await run()).toMatchObject({ status: "completed", output: "First." });
    await mock.clock.advance(60_000);
    expect(mock.requests).toHaveLength(1);
    await mock.reset();
    expect(mock.requests).toEqual([]);
    expect(mock.clock.now()).toBe(Date.parse("2026-01-01T12:00:00.000Z"));
    expect(await app.supportAgent.get("ses_1")).toMatchObject({ sequence: 2 });
    expect(await app.supportAgent.get.safe("ses_new")).toMatchObject({ error: { code: "session_not_found" } });
    await mock.reset();
  }
});
