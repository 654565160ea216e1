import { createService, memoryStore, type Store, type StoredPage } from "@orcha/server";
import { describe, expect, test } from "vitest";
import { agents } from "../agents.ts";
import { surroundings } from "../harness.ts";
import { describeStores } from "../stores.ts";
import { cases, seed } from "./cases.ts";
import { bothOf, requestOf } from "./rest.ts";

const reads = (["history", "events"] as const).flatMap((operation) => cases[operation].map((one) => [operation, one.name, one] as const));

/** The same store behind both ways of answering a page. */
async function waysOf(store: Store, seeding = true) {
  const parts = { agents, store, surroundings: surroundings() };
  const { app, rpc } = bothOf(store, parts);
  if (seeding) await seed(rpc);
  const plain = createService(parts, { splice: false }).app;
  async function ask(path: string, init: RequestInit): Promise<{ status: number; text: string; etag: string | null }[]> {
    const asked = { ...init, headers: { ...(init.headers as Record<string, string>), "x-request-id": "r" } };
    return Promise.all(
      [app, plain].map(async (way) => {
        const response = await way.request(path, asked);
        return { status: response.status, text: await response.text(), etag: response.headers.get("etag") };
      }),
    );
  }
  function byRpc(operation: string, input: unknown) {
    const body = JSON.stringify({ json: input });
    return ask(`/rpc/${operation}`, { method: "POST", headers: { "content-type": "application/json" }, body });
  }
  return { ask, byRpc };
}

describeStores("a spliced answer is the ordinary one, to the byte", (make) => {
  test.each(["history", "events"] as const)("%s", async (operation) => {
    const { ask, byRpc } = await waysOf(await make());
    for (const [of, name, { input }] of reads) {
      if (of !== operation) continue;
      // Twice: the second time the page is one that is known.
      for (const time of ["first", "second"]) {
        const [spliced, ordinary] = await byRpc(operation, input);
        expect(spliced, `${name} by RPC, ${time}`).toEqual(ordinary);
        const [rest, ordinaryRest] = await ask(...requestOf(operation, input));
        expect(rest, `${name} by REST, ${time}`).toEqual(ordinaryRest);
      }
    }
  });
});

describe("requests that go wrong", () => {
  const json = { "content-type": "application/json" };
  test.each([
    ["no JSON", { method: "POST", headers: json, body: "{" }],
    ["a list", { method: "POST", headers: json, body: "[]" }],
    ["nothing", { method: "POST", headers: json, body: "" }],
    ["no body", { method: "POST" }],
    ["null", { method: "POST", headers: json, body: '{"json":null}' }],
    ["deep JSON", { method: "POST", headers: json, body: `{"json":${"[".repeat(100)}${"]".repeat(100)}}` }],
    ["a form", { method: "POST", body: new URLSearchParams({ json: "{}" }) }],
    ["a method", { method: "PUT", headers: json, body: "{}" }],
    ["GET without data", { method: "GET" }],
    ["a key", { method: "POST", headers: { ...json, "idempotency-key": "a b" }, body: "{}" }],
  ] as const)("%s", async (_name, init) => {
    const { ask } = await waysOf(memoryStore());
    for (const operation of ["history", "events"]) {
      const [spliced, ordinary] = await ask(`/rpc/${operation}`, init);
      expect(spliced).toEqual(ordinary);
      expect(spliced?.status).toBeGreaterThanOrEqual(400);
    }
  });

  test.each(["%7B", "%7B%22json%22%3A%7B%22agent%22%3A%22supportAgent%22%2C%22sessionId%22%3A%22ses_1%22%7D%7D"])("GET ?data=%s", async (data) => {
    const { ask } = await waysOf(memoryStore());
    const [spliced, ordinary] = await ask(`/rpc/history?data=${data}`, { method: "GET" });
    expect(spliced).toEqual(ordinary);
  });
});

describe("a damaged text", () => {
  const whole = (text: string) => ({ items: `{"id":"${text}","type":"message","createdAt":"2026-01-01T00:00:00Z"}`, events: `{"sequence":1,"v":1,"type":"x","timestamp":"t","data":{"a":"${text}"}}` });
  // Cut anywhere, cut so that the end looks right, changed in the middle, or of another shape.
  const { items: item, events: event } = whole("x");
  const cuts = [item, event].flatMap((text) => Array.from(text, (_character, index) => text.slice(0, index)));
  const damages = [
    ...cuts,
    '{"id":"x","type":"message"}}',
    '{"id":"x","type":"message"},{"id":"y"}',
    '{"id":"x" "type":"message"}',
    '{"id":5,"type":"message"}',
    '{"id":"x","type":"mes\nsage"}',
    '{"sequence":1,"type":"x","data":[]}',
    "null",
    "[]",
    "{}",
  ];

  /** A store whose pages hold what a test puts in. */
  function storeOf(bodies: () => readonly string[]): Store {
    const store = memoryStore();
    const change = (page: StoredPage | undefined): StoredPage | undefined => page && { ...page, total: bodies().length, start: 0, bodies: bodies() };
    return {
      ...store,
      historyPage: async (...query) => change(await store.historyPage(...query)),
      eventPage: async (...query) => change(await store.eventPage(...query)),
    };
  }

  test.each(["history", "events"] as const)("never gets into an answer of %s, not even after it was whole", async (operation) => {
    const field = operation === "history" ? "items" : "events";
    const good = whole("x")[field];
    let bodies = [good];
    const { byRpc } = await waysOf(storeOf(() => bodies));
    const input = { agent: "supportAgent", sessionId: "ses_1" };
    for (const damage of damages) {
      for (const next of [[good, good], [good, damage], [good, whole("y")[field]]]) {
        bodies = next;
        const [spliced, ordinary] = await byRpc(operation, input);
        expect(JSON.parse(spliced?.text ?? ""), `for ${damage}`).toEqual(JSON.parse(ordinary?.text ?? ""));
        expect(spliced?.status).toBe(200);
      }
    }
  });

  test("pages are remembered within bounds", async () => {
    const long = whole("x".repeat(200_000)).items;
    let bodies = [long];
    const { byRpc } = await waysOf(storeOf(() => bodies));
    for (let page = 1; page <= 60; page += 1) {
      bodies = [long, ...(page % 2 ? [] : [long])];
      const [spliced, ordinary] = await byRpc("history", { agent: "supportAgent", sessionId: "ses_1", page });
      expect(spliced?.text === ordinary?.text).toBe(true);
    }
  });
});
