import { contract, type OperationName, type Scope } from "@orcha/contract";
import { memoryStore, type Principal } from "@orcha/server";
import { serve } from "@orcha/server/node";
import { describe, expect, test } from "vitest";
import { agents } from "../agents.ts";
import { appOf, clientOf, serverOf } from "../harness.ts";
import { describeStores } from "../stores.ts";

const scopes: readonly Scope[] = ["read", "log", "run", "resolve", "write", "admin"];

/** Takes the tenant and the scopes from the token itself. */
function auth(request: Request): Principal | undefined {
  const [tenant, ...granted] = request.headers.get("authorization")?.replace("Bearer ", "").split(",") ?? [];
  return tenant ? { tenant, subject: `user of ${tenant}`, scopes: granted as Scope[] } : undefined;
}

describeStores("access", (make) => {
  test.each(Object.keys(contract) as OperationName[])("%s needs its scope, and authorisation comes before input", async (operation) => {
    const { rpc } = appOf(await make(), { auth });
    const { scope } = contract[operation]["~orpc"].meta;
    expect(await rpc(operation, { nonsense: true })).toMatchObject({ status: 401, json: { code: "unauthorized" } });
    const others = scopes.filter((other) => other !== scope);
    const refused = await rpc(operation, { nonsense: true }, { authorization: `Bearer acme,${others.join(",")}` });
    expect(refused).toMatchObject({ status: 403, json: { code: "forbidden", data: { details: { scope } } } });
    const passed = await rpc(operation, { nonsense: true }, { authorization: `Bearer acme,${scope}` });
    expect(passed).toMatchObject({ status: 400, json: { code: "invalid_input" } });
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
