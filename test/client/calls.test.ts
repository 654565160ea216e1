import { createOrcha, type OrchaOptions } from "@orcha/client";
import * as fc from "fast-check";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { agents } from "./agents.ts";
import { failure, historyOf, raw, snapshot, startWireServer, success, type WireServer } from "./wire-server.ts";

let server: WireServer;
beforeAll(async () => {
  server = await startWireServer();
});
afterAll(() => server.close());
beforeEach(() => {
  server.replyWith(success(snapshot));
});

function create(options: Partial<OrchaOptions<typeof agents>> = {}) {
  return createOrcha<typeof agents>({ baseUrl: server.baseUrl, retry: false, ...options });
}

describe("each call", () => {
  const messages = [{ role: "user" as const, content: "Where is my order?" }];
  const events = [{ type: "skill.loaded" as const, data: { name: "incident_triage" } }];
  const agent = "supportAgent";
  const sessionId = "ses_1";
  const { supportAgent: client } = createOrcha<typeof agents>({
    baseUrl: "http://replaced.invalid",
    // The server's port is not known while the table of cases is made.
    fetch: async (input, init) => {
      const request = new Request(input, init);
      return fetch(new Request(request.url.replace("http://replaced.invalid", server.baseUrl), request));
    },
  });

  it.each([
    ["create", () => client.create({ name: "A", metadata: { customerId: "c" } }), { agent, name: "A", metadata: { customerId: "c" } }],
    ["create", () => client.create(), { agent }],
    ["get", () => client.get(sessionId), { agent, sessionId }],
    ["messages", () => client.messages(sessionId), { agent, sessionId }],
    ["restore", () => client.restore(messages, { sessionId, name: "B" }), { agent, sessionId, name: "B", messages }],
    ["append", () => client.append(sessionId, { messages }), { agent, sessionId, messages }],
    ["append", () => client.append(sessionId, { events }), { agent, sessionId, events }],
    ["list", () => client.list({ pageSize: 3, metadata: { tier: "paid" } }), { agent, pageSize: 3, metadata: { tier: "paid" } }],
    ["update", () => client.update(sessionId, { name: null, unset: ["tier"] }), { agent, sessionId, name: null, unset: ["tier"] }],
    ["complete", () => client.complete(sessionId, { summary: "Done." }), { agent, sessionId, summary: "Done." }],
    ["fork", () => client.fork(sessionId, { throughSequence: 4, name: "C" }), { agent, sessionId, throughSequence: 4, name: "C" }],
    ["delete", () => client.delete(sessionId), { agent, sessionId }],
    [
      "resume",
      () => client.resume(sessionId, { toolResults: [{ callId: "c1", output: { approved: true } }] }).result,
      { agent, sessionId, toolResults: [{ callId: "c1", output: { approved: true } }] },
    ],
  ])("%s sends its input and no more", async (operation, call, input) => {
    const answer: unknown = await call();
    expect(server.requests).toHaveLength(1);
    const method = ["get", "messages", "list"].includes(operation) ? "GET" : "POST";
    expect(server.requests[0]).toMatchObject({ method, path: `/rpc/${operation}`, input });
    expect(JSON.parse(server.requests[0]?.text ?? "")).toEqual({ json: input });
    expect(answer).toEqual(snapshot);
  });

  it("sends a read that is long for an address as a body", async () => {
    await client.list({ metadata: { tier: "é".repeat(400) as "paid" } });
    expect(server.requests[0]).toMatchObject({ method: "POST", path: "/rpc/list", input: { metadata: { tier: "é".repeat(400) } } });
  });

  it.each([
    ["history", { items: [] }],
    ["events", { events: [] }],
  ] as const)("%s sends its page", async (operation, empty) => {
    server.replyWith(success({ ...snapshot, ...empty }));
    await expect(client[operation](sessionId, { page: 2, pageSize: 25, throughSequence: 6 })).resolves.toEqual({ ...snapshot, ...empty });
    expect(server.requests[0]).toMatchObject({ path: `/rpc/${operation}`, input: { agent, sessionId, page: 2, pageSize: 25, throughSequence: 6 } });
  });

  it("can't be turned to another agent or session by its options", async () => {
    await client.update(sessionId, { name: "A", agent: "other", sessionId: "ses_2" } as { name: string });
    expect(server.requests[0]?.input).toEqual({ agent, sessionId, name: "A" });
  });

  it("delete answers nothing, even where the answer is empty", async () => {
    server.replyWith(raw(200, "{}"), raw(204, ""));
    await expect(client.delete(sessionId)).resolves.toBe(undefined);
    await expect(client.delete(sessionId)).resolves.toBe(undefined);
  });
});

describe("headers", () => {
  it("carry the token, the app's own, and those of a write", async () => {
    const { supportAgent } = create({ token: "secret", headers: { "X-App": "7", authorization: "mine" } });
    await supportAgent.append("ses_1", { messages: [] }, { idempotencyKey: "key-1", ifSequence: 42 });
    expect(server.requests[0]?.headers).toMatchObject({
      authorization: "Bearer secret",
      "x-app": "7",
      "idempotency-key": "key-1",
      "if-match": '"42"',
      "content-type": "application/json",
    });
  });

  it("are made anew for each call, and reads have no key", async () => {
    const { supportAgent } = create({ token: async () => undefined, headers: () => ({ "x-app": "8" }) });
    await supportAgent.create();
    await supportAgent.create();
    await supportAgent.get("ses_1");
    const keys = server.requests.map(({ headers }) => headers["idempotency-key"]);
    expect(keys).toEqual([expect.stringMatching(/^[\w-]{32,}$/), expect.stringMatching(/^[\w-]{32,}$/), undefined]);
    expect(keys[0]).not.toBe(keys[1]);
    expect(server.requests[0]?.headers).not.toHaveProperty("authorization");
    expect(server.requests[0]?.headers["x-app"]).toBe("8");
  });

  it("have a key where crypto offers less, or nothing", async () => {
    const { crypto } = globalThis;
    const insecure = { getRandomValues: (bytes: Uint8Array<ArrayBuffer>) => crypto.getRandomValues(bytes) };
    try {
      for (const less of [insecure, undefined]) {
        Object.defineProperty(globalThis, "crypto", { value: less, configurable: true });
        await create().supportAgent.create();
      }
    } finally {
      Object.defineProperty(globalThis, "crypto", { value: crypto, configurable: true });
    }
    const keys = server.requests.map(({ headers }) => headers["idempotency-key"]);
    expect(keys).toEqual([expect.stringMatching(/^[0-9a-f]{32}$/), expect.stringMatching(/^[0-9a-f]{32}$/)]);
    expect(new Set(keys).size).toBe(2);
  });

  it("refuse a token that they can't carry, without telling it", async () => {
    const { error } = await create({ token: () => "sec\nret" }).supportAgent.get.safe("ses_1");
    expect(error).toMatchObject({ code: "unexpected", retryable: false });
    expect(error?.message).not.toContain("sec");
    expect(server.requests).toHaveLength(0);
  });

  it("keep the cause where token() fails", async () => {
    const cause = new Error("signed out");
    const token = () => Promise.reject(cause);
    await expect(create({ token }).supportAgent.get("ses_1")).rejects.toMatchObject({ code: "unexpected", cause });
  });

  it.each([
    [{ idempotencyKey: "" }, "idempotencyKey"],
    [{ idempotencyKey: "a b" }, "idempotencyKey"],
    [{ idempotencyKey: "ключ" }, "idempotencyKey"],
    [{ idempotencyKey: "k".repeat(256) }, "idempotencyKey"],
    [{ ifSequence: Number.NaN }, "ifSequence"],
    [{ ifSequence: 1.5 }, "ifSequence"],
    [{ ifSequence: Infinity }, "ifSequence"],
  ])("refuse %j", async (options, path) => {
    const refused = create().supportAgent.delete("ses_1", options);
    await expect(refused).rejects.toMatchObject({ code: "invalid_input", details: { path } });
    expect(server.requests).toHaveLength(0);
  });

  it("follow a path in baseUrl", async () => {
    await create({ baseUrl: `${server.baseUrl}/orcha/` }).supportAgent.get("ses_1");
    expect(server.requests[0]?.path).toBe("/orcha/rpc/get");
  });
});

describe("input that JSON can't carry", () => {
  const cyclic: Record<string, unknown> = {};
  cyclic["self"] = cyclic;
  let deep: unknown = 1;
  for (let level = 0; level < 20_000; level += 1) deep = [deep];
  const { supportAgent } = createOrcha<typeof agents>({ baseUrl: "http://orcha.invalid", fetch: () => Promise.reject(new Error("sent")) });
  const loose = supportAgent as unknown as {
    create: (options: object) => Promise<unknown>;
    restore: (messages: unknown) => Promise<unknown>;
    append: (sessionId: unknown, input: object) => Promise<unknown>;
  };

  it.each([
    ["metadata.big", () => loose.create({ metadata: { big: 1n } })],
    ["metadata.at", () => loose.create({ metadata: { at: new Date(0) } })],
    ["metadata.nan", () => loose.create({ metadata: { nan: Number.NaN } })],
    ['metadata["a b"]', () => loose.create({ metadata: { "a b": () => 1 } })],
    ["metadata.s", () => loose.create({ metadata: { s: Symbol("s") } })],
    ["metadata", () => loose.create({ metadata: new Map() })],
    ["messages[1].content", () => loose.restore([{ role: "user", content: "a" }, { role: "user", content: 1n }])],
    ["messages[1]", () => loose.restore([{}, undefined])],
    ["messages[0]", () => loose.append("ses_1", { messages: Array.from({ length: 1 }) })],
    ["events[0].data", () => loose.append("ses_1", { events: [{ type: "x", data: new URL("http://a.test") }] })],
    ["sessionId", () => loose.append(7n, { messages: [] })],
    ["page", () => supportAgent.history("ses_1", { page: Number.NaN })],
    ["pageSize", () => supportAgent.events("ses_1", { pageSize: -Infinity })],
    ["throughSequence", () => supportAgent.history("ses_1", { throughSequence: Infinity })],
  ])("is refused at %s", async (path, call) => {
    await expect(call()).rejects.toMatchObject({ name: "OrchaError", code: "invalid_input", retryable: false, details: { path } });
  });

  it.each([
    ["toolResults[0].output.self", cyclic, "refers to itself"],
    [`toolResults[0].output${"[0]".repeat(62)}`, deep, "is nested deeper than 64 levels"],
  ])("fails a resume at %s", async (path, output, reason) => {
    const { result } = supportAgent.resume("ses_1", { toolResults: [{ callId: "c1", output }] });
    await expect(result).resolves.toEqual({
      status: "failed",
      sessionId: "ses_1",
      error: { code: "invalid_input", message: `${path} ${reason}`, retryable: false, details: { path } },
    });
  });

  it("is refused where few objects stand for more values than any request holds", async () => {
    let doubled: unknown = 1;
    for (let level = 0; level < 60; level += 1) doubled = [doubled, doubled];
    await expect(loose.create({ metadata: { doubled } })).rejects.toMatchObject({ code: "invalid_input", details: { path: "metadata" } });
  });

  it("is not mistaken for what only looks alike", async () => {
    const shared = { a: [1] };
    const output = { twice: [shared, shared], nothing: undefined, bare: Object.assign(Object.create(null) as object, { a: 1 }) };
    await create().supportAgent.resume("ses_1", { toolResults: [{ callId: "c1", output }] }).result;
    expect(server.requests[0]?.input["toolResults"]).toEqual([{ callId: "c1", output: { twice: [shared, shared], bare: { a: 1 } } }]);
  });

  it("is the only input that changes on its way", async () => {
    const key = fc.oneof(fc.string(), fc.constantFrom("__proto__", "toJSON", "then", "json", "meta"));
    const value = fc.letrec((tie) => ({
      json: fc.oneof({ maxDepth: 4 }, fc.jsonValue({ maxDepth: 1 }), fc.array(tie("json")), fc.dictionary(key, tie("json"))),
    })).json;
    const { supportAgent } = create();
    await fc.assert(
      fc.asyncProperty(value, async (output) => {
        server.replyWith(success({ status: "recorded" }));
        await supportAgent.resume("ses_1", { toolResults: [{ callId: "c1", output }] }).result;
        const sent = server.requests[0]?.input["toolResults"];
        expect(JSON.stringify(sent)).toBe(JSON.stringify([{ callId: "c1", output }]));
      }),
      { numRuns: 60 },
    );
  });
});

describe("answers", () => {
  it("mark items of an unknown type and keep their fields", async () => {
    const message = { id: "message:2", type: "message", createdAt: "2026-09-28T12:00:04Z", role: "user", content: [] };
    const newer = { id: "note:3", type: "note", createdAt: "2026-09-28T12:00:05Z", text: "hm" };
    server.replyWith(success(historyOf([message, newer])));
    const { items } = await create().supportAgent.history("ses_1");
    expect(items).toEqual([message, { ...newer, type: "unknown", originalType: "note" }]);
  });

  it("mark events of an unknown type", async () => {
    const known = { sequence: 1, v: 1, type: "run.started", timestamp: "2026-09-28T12:00:04Z", data: {} };
    const newer = { sequence: 2, v: 3, type: "run.teleported", timestamp: "2026-09-28T12:00:05Z", data: { to: "Mars" } };
    const inherited = { ...newer, type: "toString" };
    server.replyWith(success({ ...snapshot, events: [known, newer, inherited], page: 1, pageSize: 50, total: 3, hasMore: false }));
    const { events } = await create().supportAgent.events("ses_1");
    const { sequence, timestamp, data } = newer;
    expect(events).toEqual([
      known,
      { type: "unknown", originalType: "run.teleported", sequence, timestamp, data },
      { type: "unknown", originalType: "toString", sequence, timestamp, data },
    ]);
  });

  const base = { createdAt: "2026-09-28T12:00:09Z", callId: "c1", summary: "." };
  const bad = { ...base, id: "action:c1", type: "action", name: "lookup_order", status: "running", arguments: { orderId: 7 } };
  const waiting = { ...base, id: "client-action:c1", type: "client_action", name: "request_human_approval", status: "waiting" };
  const fine = [
    { ...bad, arguments: { orderId: "o1", extra: true } },
    { ...bad, arguments: undefined },
    { ...bad, name: "of_a_newer_server" },
    { ...bad, name: "constructor" },
    { ...waiting, arguments: { amount: 750, currency: "USD" } },
    { ...waiting, status: "completed", outcome: "answered" },
  ];

  it("are verified where the app gave the definitions", async () => {
    server.replyWith(success(historyOf([bad, { ...waiting, arguments: { amount: 750 } }, ...fine])));
    const { items } = await create({ agents }).supportAgent.history("ses_1");
    expect(items.slice(0, 2)).toEqual([
      { id: "action:c1", type: "unreadable", createdAt: base.createdAt, reason: expect.stringMatching(/^arguments of lookup_order: orderId: .*string/) },
      { id: "client-action:c1", type: "unreadable", createdAt: base.createdAt, reason: expect.stringContaining("currency") },
    ]);
    expect(items.slice(2)).toEqual(JSON.parse(JSON.stringify(fine)));
  });

  it("pass as they are without definitions", async () => {
    server.replyWith(success(historyOf([bad])));
    expect((await create().supportAgent.history("ses_1")).items).toEqual([bad]);
  });

  it("survive a schema that throws", async () => {
    const input = { "~standard": { version: 1 as const, vendor: "test", validate: () => Promise.reject(new Error("schema broke")) } };
    const broken = { supportAgent: { definition: { actions: { lookup_order: { input } } } } };
    server.replyWith(success(historyOf([bad])));
    const { supportAgent } = createOrcha({ baseUrl: server.baseUrl, agents: broken });
    expect((await supportAgent.history("ses_1")).items).toMatchObject([{ type: "unreadable", reason: "arguments of lookup_order: schema broke" }]);
  });
});

describe("safe", () => {
  it("returns data or an error", async () => {
    server.replyWith(success(snapshot), failure(404, "session_not_found"));
    const { supportAgent } = create();
    expect(await supportAgent.get.safe("ses_1")).toEqual({ data: snapshot, error: undefined });
    const { data, error } = await supportAgent.get.safe("ses_1");
    expect(data).toBe(undefined);
    expect(error).toMatchObject({ code: "session_not_found", message: "because of session_not_found", status: 404, retryable: false });
  });

  it("never throws, whatever it is called with", async () => {
    const safe = create().supportAgent.history.safe as (...args: unknown[]) => Promise<unknown>;
    await expect(safe("ses_1", null)).resolves.toMatchObject({ error: { name: "OrchaError", code: "unexpected" } });
  });
});

function page(number: number, hasMore: boolean) {
  return success(historyOf([{ id: `message:${number}`, type: "message" }], { page: number, pageSize: 1, total: 3, hasMore, throughSequence: 9 }));
}

async function collect(pages: AsyncIterable<{ items: { id: string }[] }>): Promise<string[]> {
  const ids: string[] = [];
  for await (const { items } of pages) ids.push(...items.map(({ id }) => id));
  return ids;
}

describe("pages", () => {
  it("turns all pages of the view that the first one pinned, as often as asked", async () => {
    const pages = create().supportAgent.pages("ses_1", { pageSize: 1 });
    for (let round = 0; round < 2; round += 1) {
      server.replyWith(page(1, true), page(2, true), page(3, false));
      expect(await collect(pages)).toEqual(["message:1", "message:2", "message:3"]);
      expect(server.requests.map(({ input }) => input)).toEqual([
        { agent: "supportAgent", sessionId: "ses_1", page: 1, pageSize: 1 },
        { agent: "supportAgent", sessionId: "ses_1", page: 2, pageSize: 1, throughSequence: 9 },
        { agent: "supportAgent", sessionId: "ses_1", page: 3, pageSize: 1, throughSequence: 9 },
      ]);
    }
  });

  it("sends nothing before it is iterated, and no more than is read", async () => {
    server.replyWith(page(1, true));
    const pages = create().supportAgent.pages("ses_1");
    expect(server.requests).toHaveLength(0);
    for await (const _ of pages) break;
    expect(server.requests).toHaveLength(1);
  });

  it("stops with the signal", async () => {
    server.replyWith(page(1, true));
    const controller = new AbortController();
    const seen: string[] = [];
    const turn = async () => {
      for await (const { items } of create().supportAgent.pages("ses_1", { signal: controller.signal })) {
        seen.push(...items.map(({ id }) => id));
        controller.abort();
      }
    };
    await expect(turn()).rejects.toMatchObject({ code: "aborted" });
    expect(seen).toEqual(["message:1"]);
    expect(server.requests).toHaveLength(1);
  });

  it("throws what a page throws", async () => {
    server.replyWith(page(1, true), failure(404, "session_not_found"));
    await expect(collect(create().supportAgent.pages("ses_1"))).rejects.toMatchObject({ code: "session_not_found" });
  });
});
