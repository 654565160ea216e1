import { defineAgent, defineAgents, OrchaError } from "@orcha/contract";
import { createApp, memoryStore, type Store } from "@orcha/server";
import * as v from "valibot";
import { describe, expect, test, vi } from "vitest";
import { agents } from "../agents.ts";
import { describeStores } from "../stores.ts";
import { bothOf } from "./rest.ts";

describe("/api/agents", () => {
  async function definitions(of: typeof agents | ReturnType<typeof defineAgents>) {
    const response = await createApp({ agents: of, store: memoryStore() }).request("/api/agents");
    const body = (await response.json()) as { version: string; agents: Record<string, Record<string, unknown>> };
    return { ...body, etag: response.headers.get("etag") };
  }

  test("describes the agents as JSON Schema", async () => {
    const { version, etag, agents: described } = await definitions(agents);
    expect(version).toMatch(/^[0-9a-f]{64}$/);
    expect(etag).toBe(`"${version}"`);
    expect(described["supportAgent"]).toMatchObject({
      actions: { lookup_order: { input: { type: "object", properties: { orderId: { type: "string" } }, required: ["orderId"] } } },
      clientActions: { request_human_approval: { output: { properties: { approved: { type: "boolean" } } } } },
      skills: { incident_triage: { description: "Sorts incidents" } },
      evaluations: { response_quality: { metrics: { groundedness: { threshold: 0.8 } } } },
      subagents: ["researcher"],
    });
    expect(described["researcher"]).toMatchObject({ metadata: { required: ["customerId"] }, actions: {} });
  });

  test("equal definitions have equal versions, in whatever order; others have others", async () => {
    const a = () => defineAgent({ description: "A", actions: { x: { input: v.object({ p: v.string(), q: v.string() }) } } });
    const b = () => defineAgent({ skills: { s: { description: "S" } } });
    const { version } = await definitions(defineAgents({ a: a(), b: b() }));
    expect((await definitions(defineAgents({ b: b(), a: a() }))).version).toBe(version);
    expect((await definitions(defineAgents({ a: a() }))).version).not.toBe(version);
    const changed = defineAgent({ description: "A", actions: { x: { input: v.object({ p: v.string(), q: v.number() }) } } });
    expect((await definitions(defineAgents({ a: changed, b: b() }))).version).not.toBe(version);
  });
});

describeStores("/readyz", (make) => {
  test("answers 200 while the store does, without asking who calls, and 503 with its error where it fails", async () => {
    const store = await make();
    const { send } = bothOf(store, { auth: () => undefined, onError: () => {} });
    expect(await send("/readyz")).toMatchObject({ status: 200, json: { status: "ready" } });
    const broken: Store = { ...store, list: () => Promise.reject(new OrchaError("storage_error", "the disk is full")) };
    const down = await bothOf(broken, { onError: () => {} }).send("/readyz");
    expect([down.status, down.json]).toEqual([503, { code: "storage_error", message: "the disk is full", retryable: true }]);
  });
});

describe("/readyz of a store in trouble", () => {
  test("keeps what the store said from the caller", async () => {
    const { send } = bothOf({ ...memoryStore(), list: () => Promise.reject(new Error("password")) }, { onError: () => {} });
    const { status, json } = await send("/readyz");
    expect([status, json]).toEqual([503, { code: "storage_error", message: "the store fails", retryable: true }]);
  });

  test("ends after two seconds, and asks once for many", async () => {
    vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
    try {
      const list = vi.fn<Store["list"]>(() => new Promise(() => {}));
      const { send } = bothOf({ ...memoryStore(), list }, { onError: () => {} });
      const asking = [send("/readyz"), send("/readyz"), send("/readyz")];
      await vi.waitFor(() => expect(vi.getTimerCount()).toBe(1), { timeout: 10_000 });
      await vi.advanceTimersByTimeAsync(2000);
      for (const answer of await Promise.all(asking)) expect(answer).toMatchObject({ status: 503, json: { code: "too_busy" } });
      expect(list).toHaveBeenCalledTimes(1);
    } finally {
      vi.useRealTimers();
    }
  });
});

describe("/api/docs", () => {
  test("refers to nothing elsewhere, runs no script, and says so in its policy", async () => {
    const { send } = bothOf(memoryStore());
    const { text, headers } = await send("/api/docs");
    expect(headers.get("content-type")).toBe("text/html; charset=utf-8");
    expect(headers.get("content-security-policy")).toBe(
      "default-src 'none'; style-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
    );
    expect(text).not.toMatch(/<script|<iframe|<img|\son\w+=|style=|javascript:/i);
    for (const [, target = ""] of text.matchAll(/(?:href|src)="([^"]*)"/g)) expect(target).toMatch(/^(#[\w-]+|docs\.css|openapi\.json)$/);
    expect((await send("/api/docs.css")).text).not.toMatch(/url\(|@import/);
  });

  test("leads from every link to what it names, and is built for screen readers", async () => {
    const { send } = bothOf(memoryStore());
    const { text } = await send("/api/docs");
    const ids = [...text.matchAll(/\sid="([^"]+)"/g)].map(([, id]) => id);
    expect(new Set(ids).size).toBe(ids.length);
    for (const [, target] of text.matchAll(/href="#([^"]+)"/g)) expect(ids).toContain(target);
    expect(text).toMatch(/<html lang="en">/);
    expect(text).toMatch(/<main id="main">/);
    expect(text).toMatch(/<nav aria-label=/);
    const levels = [...text.matchAll(/<h(\d)/g)].map(([, level]) => Number(level));
    for (const [index, level] of levels.entries()) expect(level - (levels[index - 1] ?? 0)).toBeLessThanOrEqual(1);
    // Every block that scrolls can be reached by keyboard.
    expect(text.match(/<pre/g)?.length).toBe(text.match(/<pre tabindex="0"/g)?.length);
  });
});
