import { request as send } from "node:http";
import { scriptedModel } from "@orcha/agent/testing";
import { contract, OrchaError, type OperationName, type Scope } from "@orcha/contract";
import { bearerTokens, memoryStore, type Authenticate, type Principal, type Store } from "@orcha/server";
import { serve } from "@orcha/server/node";
import { afterEach, describe, expect, onTestFinished, test, vi } from "vitest";
import { agents } from "../agents.ts";
import { appOf, clientOf, serverOf, surroundings } from "../harness.ts";
import { describeStores } from "../stores.ts";

const scopes: readonly Scope[] = ["read", "log", "run", "resolve", "write", "admin"];

/** Takes the tenant and the scopes from the token itself. */
function auth(request: Request): Principal | undefined {
  const [tenant, ...granted] = request.headers.get("authorization")?.replace("Bearer ", "").split(",") ?? [];
  return tenant ? { tenant, subject: `user of ${tenant}`, scopes: granted as Scope[] } : undefined;
}

const operations = Object.keys(contract) as OperationName[];

/** The operations that need no session to be there. */
const openers: readonly OperationName[] = ["create", "restore", "run", "list"];

/** Input that each operation takes for a session that waits for an approval: a new operation needs a line here. */
const validInputs: Record<OperationName, object> = {
  create: { name: "n" },
  restore: { messages: [{ role: "user", content: "x" }] },
  append: { messages: [{ role: "user", content: "x" }] },
  resume: { toolResults: [{ callId: "call_1", output: { approved: true } }] },
  run: { content: "x", metadata: { customerId: "c" } },
  pause: {},
  stop: {},
  subagentHistory: {},
  subagentEvents: {},
  tail: { after: 0 },
  get: {},
  list: {},
  update: { name: "n" },
  complete: { summary: "Done." },
  fork: { throughSequence: 1 },
  delete: {},
  history: { pageSize: 10 },
  events: { pageSize: 10 },
  messages: {},
};

function validInput(operation: OperationName, agent = operation === "run" ? "researcher" : "supportAgent"): object {
  return { agent, ...(operation === "list" ? {} : { sessionId: "ses_1" }), ...validInputs[operation] };
}

function as(tenant: string, granted: readonly Scope[] = scopes, key?: string): Record<string, string> {
  return { authorization: `Bearer ${[tenant, ...granted].join(",")}`, ...(key === undefined ? {} : { "idempotency-key": key }) };
}

/** An app on a store where time stands still, so that equal calls get equal answers. */
function still(store: Store) {
  const implementations = { researcher: { model: scriptedModel(() => ({ text: "Hello." })), instructions: "You research." } };
  const { rpc } = appOf(store, { auth, surroundings: surroundings(), implementations });
  async function wait(tenant: string): Promise<void> {
    const session = { agent: "supportAgent", sessionId: "ses_1" };
    const call = { callId: "call_1", name: "request_human_approval", arguments: { amount: 7, currency: "USD" } };
    const asks = [{ type: "message.created", data: { role: "assistant", content: [{ type: "tool_call", ...call }] } }];
    await rpc("restore", { ...session, messages: [{ role: "user", content: "Hello" }] }, as(tenant));
    const events = [...asks, { type: "client_action.requested", data: { calls: [call] } }];
    expect((await rpc("append", { ...session, events }, as(tenant))).status).toBe(200);
  }
  /** All that a tenant can see of its session and beside it. */
  async function seen(tenant: string): Promise<string> {
    const events = await rpc("events", { agent: "supportAgent", sessionId: "ses_1" }, as(tenant));
    const lists = await Promise.all(Object.keys(agents).map((agent) => rpc("list", { agent }, as(tenant))));
    return [events, ...lists].map(({ text }) => text).join("\n");
  }
  return { rpc, wait, seen };
}

describeStores("access", (make) => {
  test.each(operations)("%s needs its scope, and authorisation comes before input", async (operation) => {
    const { rpc } = appOf(await make(), { auth });
    const { scope, orScope } = contract[operation]["~orpc"].meta;
    expect(await rpc(operation, { nonsense: true })).toMatchObject({ status: 401, json: { code: "unauthorized" } });
    const others = scopes.filter((other) => other !== scope && other !== orScope);
    const refused = await rpc(operation, { nonsense: true }, { authorization: `Bearer acme,${others.join(",")}` });
    expect(refused).toMatchObject({ status: 403, json: { code: "forbidden", data: { details: { scope } } } });
    const passed = await rpc(operation, { nonsense: true }, { authorization: `Bearer acme,${scope}` });
    expect(passed).toMatchObject({ status: 400, json: { code: "invalid_input" } });
  });

  test.each(operations)("%s without its scope writes nothing, and doesn't say whether the session exists", async (operation) => {
    const { rpc, wait, seen } = still(await make());
    const empty = still(await make());
    await wait("acme");
    const before = await seen("acme");
    const { scope, orScope } = contract[operation]["~orpc"].meta;
    const others = scopes.filter((other) => other !== scope && other !== orScope);
    for (const granted of [[], ...others.map((other) => [other]), others]) {
      const refused = await rpc(operation, validInput(operation), as("acme", granted, "k"));
      expect(refused).toMatchObject({ status: 403, json: { code: "forbidden", data: { details: { scope } } } });
      expect((await empty.rpc(operation, validInput(operation), as("acme", granted, "k"))).text).toBe(refused.text);
      expect(await seen("acme")).toBe(before);
    }
    // The scope alone is enough, and the refusals above left nothing under their key.
    const passed = await rpc(operation, validInput(operation), as("acme", [scope], "k"));
    // The session that there is was delegated by nobody.
    const isOfChild = operation.startsWith("subagent");
    expect(isOfChild ? ["session_not_found"] : [undefined, "session_exists"]).toContain(passed.json?.["code"]);
    expect(isOfChild ? [404] : [200, 409]).toContain(passed.status);
  });

  test.each(operations.filter((operation) => contract[operation]["~orpc"].meta.write && !openers.includes(operation)))(
    "%s of a session that has moved shows it to those who may read it, and only where it is to others",
    async (operation) => {
      const { rpc, wait, seen } = still(await make());
      await wait("acme");
      const before = await seen("acme");
      const { scope } = contract[operation]["~orpc"].meta;
      async function refusal(granted: readonly Scope[]) {
        return (await rpc(operation, validInput(operation), { ...as("acme", granted), "if-match": "1" })).json;
      }
      const shown = await refusal([scope, "read"]);
      expect(shown).toMatchObject({ code: "sequence_conflict", data: { details: { sequence: 4, snapshot: { sessionId: "ses_1", sequence: 4 } } } });
      const hidden = await refusal([scope]);
      expect(hidden).toMatchObject({ code: "sequence_conflict", data: { details: { sequence: 4 } } });
      expect(JSON.stringify(hidden)).not.toContain("snapshot");
      expect(await seen("acme")).toBe(before);
    },
  );

  test.each(operations)("%s with another tenant's session answers as if there were none, and leaves it alone", async (operation) => {
    const { rpc, wait, seen } = still(await make());
    const empty = still(await make());
    await wait("acme");
    // First while the session waits, then after its owner made the same call with the same key: no receipt or tombstone shows.
    for (const key of ["k1", "k2"]) {
      const before = await seen("acme");
      const foreign = await rpc(operation, validInput(operation), as("rival", scopes, key));
      const unknown = await empty.rpc(operation, validInput(operation), as("rival", scopes, key));
      expect(foreign.text).toBe(unknown.text);
      expect(foreign.status).toBe(unknown.status);
      expect(foreign.json?.["code"] === "session_not_found").toBe(!openers.includes(operation));
      expect(await seen("acme")).toBe(before);
      await rpc(operation, validInput(operation), as("acme", scopes, "k2"));
    }
    expect(await seen("rival")).toBe(await empty.seen("rival"));
  });

  test.each(operations)("%s with another agent's session answers as if there were none, and leaves it alone", async (operation) => {
    const { rpc, wait } = still(await make());
    const empty = still(await make());
    await wait("acme");
    const events = { agent: "supportAgent", sessionId: "ses_1" };
    const before = (await rpc("events", events, as("acme"))).text;
    const foreign = await rpc(operation, validInput(operation, "researcher"), as("acme"));
    const unknown = await empty.rpc(operation, validInput(operation, "researcher"), as("acme"));
    expect(foreign.text).toBe(unknown.text);
    expect(foreign.status).toBe(unknown.status);
    expect((await rpc("events", events, as("acme"))).text).toBe(before);
  });

  test("another tenant's session is unknown, byte for byte", async () => {
    const store = await make();
    const { rpc } = appOf(store, { auth });
    const acme = { authorization: `Bearer acme,${scopes.join(",")}` };
    const rival = { authorization: `Bearer rival,${scopes.join(",")}` };
    const input = { agent: "supportAgent", sessionId: "ses_1", messages: [{ role: "user", content: "x" }], name: "n" };
    await rpc("restore", input, acme);
    for (const operation of ["get", "history", "events", "messages", "complete", "delete"]) {
      const { agent, sessionId } = input;
      const foreign = await rpc(operation, { agent, sessionId }, rival);
      const unknown = await appOf(memoryStore()).rpc(operation, { agent, sessionId });
      expect(foreign.text).toBe(unknown.text);
      expect(foreign.status).toBe(404);
    }
    expect((await rpc("list", { agent: "supportAgent" }, rival)).json).toEqual({ items: [] });
    // The id is free in another tenant.
    expect((await rpc("create", { agent: "supportAgent", sessionId: "ses_1" }, rival)).status).toBe(200);
    expect((await rpc("get", { agent: "supportAgent", sessionId: "ses_1" }, acme)).json).toMatchObject({ sequence: 2 });
  });

  test("what a caller writes carries its subject", async () => {
    const orcha = clientOf(await make(), { auth }, { token: `acme,${scopes.join(",")}` });
    const { sessionId } = await orcha.supportAgent.create();
    const { events } = await orcha.supportAgent.events(sessionId);
    expect(events[0]).toMatchObject({ type: "session.created", actor: "user of acme" });
  });
});

describe("a check of one's own", () => {
  afterEach(() => void vi.useRealTimers());

  async function call(check: unknown) {
    const told: unknown[] = [];
    const { rpc } = appOf(memoryStore(), { auth: check as Authenticate, onError: (error) => told.push(error) });
    const { status, json } = await rpc("list", { agent: "supportAgent" });
    return { status, code: json["code"], message: json["message"], told };
  }

  test("may answer at once or later; nobody is unauthorized", async () => {
    const principal: Principal = { tenant: "acme", scopes: ["read"] };
    expect(await call(() => principal)).toMatchObject({ status: 200 });
    expect(await call(async () => principal)).toMatchObject({ status: 200 });
    expect(await call(() => undefined)).toMatchObject({ status: 401, code: "unauthorized", told: [] });
    expect(await call(async () => null)).toMatchObject({ status: 401, code: "unauthorized", told: [] });
  });

  test("may refuse with an error of the table", async () => {
    const limited = new OrchaError("rate_limited", "slower, please", { details: { retryAfterMs: 1000 } });
    const refused = await call(() => Promise.reject(limited));
    expect(refused).toMatchObject({ status: 429, code: "rate_limited", message: "slower, please", told: [] });
  });

  test("lets nobody in when it fails, and only the operator learns why", async () => {
    const fault = new Error("no key for secret-host");
    const failed = { status: 500, code: "execution_failed", message: "the server failed", told: [fault] };
    expect(await call(() => Promise.reject(fault))).toEqual(failed);
    const thrower = (): never => {
      throw fault;
    };
    expect(await call(thrower)).toEqual(failed);
  });

  test.each<[string, unknown, string]>([
    ["no object", true, "tenant is not a string"],
    ["no tenant", { scopes: ["read"] }, "tenant is not a string"],
    ["an empty tenant", { tenant: "", scopes: ["read"] }, "tenant is blank"],
    ["a long tenant", { tenant: "x".repeat(201), scopes: ["read"] }, "tenant has more than 200 characters"],
    ["a NUL in the tenant", { tenant: "a\0", scopes: ["read"] }, "tenant has a control character"],
    ["half a surrogate pair in the tenant", { tenant: "\udc00", scopes: ["read"] }, "tenant has half a surrogate pair"],
    ["a subject that is no text", { tenant: "acme", subject: 7, scopes: ["read"] }, "subject is not a string"],
    ["no scopes", { tenant: "acme" }, "scopes is not a list"],
    ["scopes in a text", { tenant: "acme", scopes: "read" }, "scopes is not a list"],
    ["an unknown scope", { tenant: "acme", scopes: ["read", "root"] }, "scopes[1] is none of"],
  ])("that answers %s lets nobody in", async (_what, principal, fault) => {
    const { told, ...answer } = await call(() => principal);
    expect(answer).toEqual({ status: 500, code: "execution_failed", message: "the server failed" });
    expect(String(told[0])).toContain(fault);
  });

  test("that never answers ends as too_busy after ten seconds", async () => {
    vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
    const calling = call(() => new Promise(() => {}));
    await vi.waitFor(() => expect(vi.getTimerCount()).toBe(1), { timeout: 10_000 });
    await vi.advanceTimersByTimeAsync(10_000);
    expect(await calling).toMatchObject({ status: 503, code: "too_busy", told: [expect.any(OrchaError)] });
    // An answer in time leaves no timer behind.
    await call(async () => undefined);
    expect(vi.getTimerCount()).toBe(0);
  });
});

describe("without auth, on loopback", () => {
  /** Asks a real server over a socket, where the headers are what the caller says. */
  async function ask(headers: Record<string, string | string[]>, check?: Authenticate) {
    const server = await serve({ agents, store: memoryStore(), port: 0, ...(check ? { auth: check } : {}) });
    onTestFinished(() => server.close());
    return new Promise<{ status: number | undefined; text: string }>((resolve, reject) => {
      const path = `/rpc/list?data=${encodeURIComponent('{"json":{"agent":"supportAgent"}}')}`;
      const asking = send({ host: "127.0.0.1", port: server.port, path, agent: false, headers }, (response) => {
        let text = "";
        response.setEncoding("utf8");
        response.on("data", (part: string) => {
          text += part;
        });
        response.on("end", () => resolve({ status: response.statusCode, text }));
      });
      asking.on("error", reject).end();
    });
  }

  test.each(["localhost", "LOCALHOST:4310", "127.0.0.1", "127.0.0.1:80", "[::1]", "[::1]:4310"])("host %s is answered", async (host) => {
    expect(await ask({ host })).toEqual({ status: 200, text: '{"json":{"items":[]}}' });
  });

  test.each(["evil.example", "evil.example:4310", "localhost.evil.example", "127.0.0.1.evil.example", "192.168.0.7", "0.0.0.0"])(
    "host %s is refused with the reason",
    async (host) => {
      const { status, text } = await ask({ host });
      expect(status).toBe(403);
      expect(JSON.parse(text)).toMatchObject({ json: { code: "forbidden", message: expect.stringContaining("Host header") as string } });
    },
  );

  test.each(["http://localhost:5173", "http://127.0.0.1", "https://[::1]:8080"])("a page of %s is answered", async (origin) => {
    expect((await ask({ host: "localhost", origin })).status).toBe(200);
  });

  test.each(["https://evil.example", "http://localhost.evil.example", "http://evil.example:80", "null", "", "file://localhost"])(
    "a page of %j is refused with the reason",
    async (origin) => {
      const { status, text } = await ask({ host: "localhost", origin });
      expect(status).toBe(403);
      expect(JSON.parse(text)).toMatchObject({ json: { code: "forbidden", message: expect.stringContaining("Origin header") as string } });
    },
  );

  test("with auth, hosts and origins are the operator's", async () => {
    const check = bearerTokens([{ token: "a-token-of-this-test", tenant: "acme", scopes: ["read"] }]);
    const headers = { host: "orcha.example", origin: "https://app.example", authorization: "Bearer a-token-of-this-test" };
    expect((await ask(headers, check)).status).toBe(200);
    expect((await ask({ ...headers, authorization: "Bearer another-token-here" }, check)).status).toBe(401);
    const twice = ["Bearer a-token-of-this-test", "Bearer a-token-of-this-test"];
    expect((await ask({ ...headers, authorization: twice }, check)).status).toBe(401);
  });
});

describe("listening", () => {
  test("without auth a server refuses any address but loopback", async () => {
    await expect(serve({ agents, store: memoryStore(), hostname: "0.0.0.0", port: 0 })).rejects.toThrow(/loopback only/);
  });

  test("a port that is taken rejects", async () => {
    const { server } = await serverOf(memoryStore());
    await expect(serve({ agents, store: memoryStore(), port: server.port })).rejects.toMatchObject({ code: "EADDRINUSE" });
  });

  test("close lets open requests finish, then takes no more", async () => {
    const store = memoryStore();
    let release = (): void => {};
    const held = new Promise<void>((resolve) => {
      release = resolve;
    });
    let asked = (): void => {};
    const arrived = new Promise<void>((resolve) => {
      asked = resolve;
    });
    const slow = {
      ...store,
      snapshot: async (...ref: Parameters<typeof store.snapshot>) => {
        asked();
        await held;
        return store.snapshot(...ref);
      },
    };
    const { server, orcha } = await serverOf(slow, { retry: false });
    const creating = orcha.supportAgent.create();
    await arrived;
    const closing = server.close();
    release();
    expect((await creating).sequence).toBe(1);
    await closing;
    const { error } = await orcha.supportAgent.list.safe();
    expect(error?.code).toBe("network");
  });

  test("it is alive at /healthz", async () => {
    const { server } = await serverOf(memoryStore());
    const response = await fetch(`${server.url}/healthz`);
    expect(await response.json()).toEqual({ status: "ok" });
  });
});
