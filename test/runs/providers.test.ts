import { inspect } from "node:util";
import type { LanguageModelV4 } from "@ai-sdk/provider";
import { createOrcha } from "@orcha/client";
import { memoryStore, type Implementations, type Store } from "@orcha/server";
import { serve } from "@orcha/server/node";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, onTestFinished, test, vi } from "vitest";
import { agents } from "./agents.ts";
import { eventsOf, type RunClient } from "./bed.ts";
import { apiKey, apis, startModelWorld, type ModelWorld } from "./model-world.ts";

let world: ModelWorld;
beforeAll(async () => {
  world = await startModelWorld();
});
afterAll(() => world.stop());
beforeEach(() => world.clear());

/** Everything that this process printed, and every answer that the client got. */
let told: string[] = [];
beforeEach(() => {
  told = [];
  for (const method of ["log", "info", "warn", "error", "debug"] as const) {
    vi.spyOn(console, method).mockImplementation((...values: unknown[]) => void told.push(inspect(values, { depth: 9 })));
  }
});
afterEach(() => {
  if (told.some((text) => text.includes(apiKey))) throw new Error(`a key was told: ${told.join("\n")}`);
});

interface Started {
  orcha: RunClient;
  /** The orders that were looked up. */
  lookups: string[];
}

type Settings = NonNullable<Implementations<typeof agents>["supportAgent"]>["settings"];

/** A server on a store, whose agent has a provider's model. */
async function serverOf(store: Store, model: LanguageModelV4, settings: Settings = {}): Promise<Started> {
  const lookups: string[] = [];
  const server = await serve({
    agents,
    store,
    port: 0,
    implementations: {
      supportAgent: {
        model,
        settings: { maxRetries: 0, ...settings },
        instructions: "You help.",
        actions: {
          lookup_order: ({ orderId }) => {
            lookups.push(orderId);
            return { status: "lost" };
          },
          refund: () => ({}),
        },
        skills: { incident_triage: "Calm." },
        evaluations: { response_quality: async () => ({ groundedness: { score: 1, reasoning: "It is." } }) },
      },
    },
  });
  onTestFinished(() => server.close());
  const listening: typeof fetch = async (...request) => {
    const response = await fetch(...request);
    void response.clone().text().then((text) => told.push(text), () => {});
    return response;
  };
  const orcha = createOrcha<typeof agents>({ baseUrl: server.url, fetch: listening });
  return { orcha, lookups };
}

/** A store that several servers have, one after the other. */
function shared(): Store {
  const store = memoryStore();
  const close = store.close.bind(store);
  onTestFinished(close);
  store.close = async () => {};
  return store;
}

/** Every call that the model was shown and how many results it had, then the results of no call. */
function resultsOf({ messages }: ReturnType<ModelWorld["asked"]>[number]): string[] {
  const calls = messages.flatMap(({ tool_calls = [] }) => tool_calls);
  const answered = messages.flatMap(({ role, tool_call_id = "" }) => (role === "tool" ? [tool_call_id] : []));
  const stray = answered.filter((id) => !calls.some((call) => call.id === id));
  const counts = calls.map(({ id, function: { name } }) => `${name} ${answered.filter((other) => other === id).length}`);
  return [...counts, ...stray];
}

const once = ["lookup_order 1", "request_human_approval 1"];

async function approve({ orcha }: Started, sessionId: string) {
  const { pendingClientActions } = await orcha.supportAgent.get(sessionId);
  const toolResults = pendingClientActions.map(({ callId }) => ({ callId, output: { approved: true } }));
  const run = orcha.supportAgent.resume(sessionId, { toolResults });
  // The next run may start before this one is judged, which would make the order a matter of luck.
  await run.evaluations;
  return run.result;
}

describe.each(apis)("%s", (api) => {
  test("runs, acts, waits for a person and goes on: each call has one result, and no action runs again", async () => {
    const server = await serverOf(shared(), world.models[api]());
    const run = server.orcha.supportAgent.run("Refund A-1");
    expect(await run.result).toMatchObject({
      status: "waiting_for_client_action",
      pendingClientActions: [{ name: "request_human_approval", arguments: { amount: 750, currency: "USD" } }],
    });
    expect(await approve(server, run.sessionId)).toMatchObject({ status: "completed", run: 1, output: "Refunded." });
    const next = server.orcha.supportAgent.resume(run.sessionId, "How much?");
    const frames = [];
    for await (const frame of next.stream) frames.push(frame);
    expect(frames.at(-1)).toMatchObject({ status: "completed", run: 2, output: "750 USD.", usage: { inputTokens: expect.any(Number) as unknown } });
    expect(world.asked().map(resultsOf)).toEqual([[], once, once]);
    expect(server.lookups).toEqual(["A-1"]);
    await next.evaluations;
    const { items } = await server.orcha.supportAgent.history(run.sessionId);
    expect(items.map(({ type }) => type)).toEqual(["message", "action", "client_action", "message", "evaluation", "message", "message", "evaluation"]);
    const events = await eventsOf(server.orcha, run.sessionId);
    const { provider, modelId } = world.models[api]();
    expect(events.find(({ type }) => type === "run.started")).toMatchObject({ data: { provider, model: modelId } });
  });

  test("goes on with what another provider began, also in the midst of a run", async () => {
    const store = shared();
    const other = apis[(apis.indexOf(api) + 1) % apis.length] ?? api;
    const first = await serverOf(store, world.models[other]());
    const { sessionId, result } = first.orcha.supportAgent.run("Refund A-1");
    expect(await result).toMatchObject({ status: "waiting_for_client_action" });
    const second = await serverOf(store, world.models[api]());
    expect(await approve(second, sessionId)).toMatchObject({ status: "completed", output: "Refunded." });
    expect(await second.orcha.supportAgent.resume(sessionId, "How much?").result).toMatchObject({ status: "completed", output: "750 USD." });
    expect(world.asked().map(resultsOf)).toEqual([[], once, once]);
    expect([first.lookups, second.lookups]).toEqual([["A-1"], []]);
  });

  test.each([
    ["Busy", 429, "slow down, [redacted]", true],
    ["Broken", 500, "the model is on fire", true],
    ["Key", 401, "Incorrect API key provided: [redacted] See https://example.com/keys", false],
  ])("%s: fails in the provider's words, and nobody sees a key", async (text, statusCode, message, retryable) => {
    const { orcha } = await serverOf(shared(), world.models[api]());
    const run = orcha.supportAgent.run(text);
    const { provider, modelId: model } = world.models[api]();
    const error = { code: "provider_error", message, retryable, details: { statusCode, provider, model } };
    expect(await run.result).toMatchObject({ status: "failed", error });
    const snapshot = await orcha.supportAgent.get(run.sessionId);
    expect(snapshot).toMatchObject({ runStatus: "failed", lastError: error });
    const everything = [await eventsOf(orcha, run.sessionId), await orcha.supportAgent.history(run.sessionId), await orcha.supportAgent.messages(run.sessionId), snapshot];
    expect(JSON.stringify(everything)).not.toContain(apiKey);
    expect(await orcha.supportAgent.resume(run.sessionId, "Hello").result).toMatchObject({ status: "completed", output: "Hello!" });
  });

  test("is asked again where it says so, and the log doesn't tell", async () => {
    const { orcha } = await serverOf(shared(), world.models[api](), { maxRetries: 1 });
    world.mock.nextRequestError(429, { message: "slow down" });
    const run = orcha.supportAgent.run("Hello");
    expect(await run.result).toMatchObject({ status: "completed", output: "Hello!" });
    expect(world.sent).toHaveLength(2);
    const events = await eventsOf(orcha, run.sessionId);
    expect(events.filter(({ type }) => type === "message.created")).toHaveLength(2);
  });
});

test("a provider that stays busy is asked as often as the settings say, and no more", async () => {
  const { orcha } = await serverOf(shared(), world.models["OpenAI Chat"](), { maxRetries: 1 });
  expect(await orcha.supportAgent.run("Broken").result).toMatchObject({ status: "failed", error: { code: "provider_error", message: "the model is on fire" } });
  expect(world.sent).toHaveLength(2);
});

describe("what only its provider can read", () => {
  const thinking = { anthropic: { thinking: { type: "enabled", budgetTokens: 1024 } } };
  const signed = [
    { type: "redacted_thinking", data: "b3BhcXVl" },
    { type: "thinking", thinking: "Let me think.", signature: "c2lnbmVk" },
  ];

  test("goes back to Anthropic's model from any server, and to no other model", async () => {
    const store = shared();
    const one = await serverOf(store, world.models.Anthropic(), { providerOptions: thinking });
    const { sessionId, result } = one.orcha.supportAgent.run("Think");
    expect(await result).toMatchObject({ status: "waiting_for_client_action" });
    const two = await serverOf(store, world.models.Anthropic(), { providerOptions: thinking });
    expect(await approve(two, sessionId)).toMatchObject({ status: "completed" });
    const again = world.sent.at(-1)?.body ?? "";
    for (const block of signed) expect(again).toContain(JSON.stringify(block));
    expect(again.indexOf("thinking")).toBeLessThan(again.indexOf("tool_use"));
    const others = [world.models.Anthropic("claude-other"), ...apis.filter((api) => api !== "Anthropic").map((api) => world.models[api]())];
    for (const model of others) {
      const other = await serverOf(store, model);
      expect(await other.orcha.supportAgent.resume(sessionId, "How much?").result).toMatchObject({ status: "completed", output: "750 USD." });
      expect(world.sent.at(-1)?.body).not.toMatch(/b3BhcXVl|c2lnbmVk|Let me think/);
    }
    // People never see it, the log keeps it for the model.
    const { items } = await two.orcha.supportAgent.history(sessionId);
    expect(JSON.stringify(items)).not.toMatch(/b3BhcXVl|c2lnbmVk|Let me think/);
    expect(JSON.stringify(await eventsOf(two.orcha, sessionId))).toContain("c2lnbmVk");
  });

  test("goes back to OpenAI sealed, which is asked to keep nothing, and to no other model", async () => {
    const store = shared();
    const one = await serverOf(store, world.models["OpenAI Responses"]());
    const { sessionId, result } = one.orcha.supportAgent.run("Think");
    await result;
    const two = await serverOf(store, world.models["OpenAI Responses"]());
    expect(await approve(two, sessionId)).toMatchObject({ status: "completed" });
    const again = JSON.parse(world.sent.at(-1)?.body ?? "{}") as { store: boolean; input: { type?: string; encrypted_content?: string }[] };
    expect(again.store).toBe(false);
    const sealed = again.input.find(({ type }) => type === "reasoning")?.encrypted_content;
    expect(sealed).toEqual(expect.any(String));
    for (const model of [world.models["OpenAI Responses"]("gpt-other"), world.models["OpenAI Chat"](), world.models.Anthropic(), world.models.Google()]) {
      const other = await serverOf(store, model);
      await other.orcha.supportAgent.resume(sessionId, "How much?").result;
      expect(world.sent.at(-1)?.body).not.toContain(String(sealed));
    }
  });
});
