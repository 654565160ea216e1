import { createAnthropic } from "@ai-sdk/anthropic";
import { createGoogle } from "@ai-sdk/google";
import { createOpenAI } from "@ai-sdk/openai";
import { createOpenAICompatible } from "@ai-sdk/openai-compatible";
import type { LanguageModelV4 } from "@ai-sdk/provider";
import { Agent, tool } from "@orcha/agent";
import * as v from "valibot";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test, vi } from "vitest";
import { startModelServer } from "./model-server.ts";

let server: Awaited<ReturnType<typeof startModelServer>>;
beforeAll(async () => {
  server = await startModelServer();
});
afterAll(() => server.stop());
beforeEach(() => server.clear());

const apiKey = "sk-test-0123456789abcdef";
const models: Record<string, () => LanguageModelV4> = {
  "OpenAI Responses": () => createOpenAI({ baseURL: `${server.url}/v1`, apiKey })("gpt-5-mini"),
  "OpenAI Chat": () => createOpenAI({ baseURL: `${server.url}/v1`, apiKey }).chat("gpt-5-mini"),
  Anthropic: () => createAnthropic({ baseURL: `${server.url}/v1`, apiKey })("claude-haiku-4-5"),
  "OpenAI-compatible": () => createOpenAICompatible({ name: "local", baseURL: `${server.url}/v1`, apiKey, includeUsage: true })("llama"),
  Google: () => createGoogle({ baseURL: `${server.url}/v1beta`, apiKey })("gemini-2.5-flash"),
};

function modelOf(provider: string): LanguageModelV4 {
  const make = models[provider];
  if (!make) throw new Error(`no provider ${provider}`);
  return make();
}

const getWeather = (city: string): string => `Weather in ${city}: 22°C, Sunny`;

describe.each(Object.keys(models))("%s", (provider) => {
  test("a chat that was saved is reopened", async () => {
    const agent = new Agent({ instructions: "You are helpful", model: modelOf(provider) });
    await agent.chat("My name is Alice");
    const restored = new Agent({ instructions: "You are helpful", model: modelOf(provider) });
    restored.setHistory(JSON.parse(JSON.stringify(agent.getHistory())));
    expect(await restored.chat("What is my name?")).toBe("Your name is Alice");
  });

  test("a tool's result carries over: it is not run again, and the saved result goes to the model", async () => {
    const run = vi.fn<typeof getWeather>(getWeather);
    const tools = [tool({ name: "getWeather", input: v.object({ city: v.string() }), execute: ({ city }) => run(city) })];
    const agent = new Agent({ instructions: "You are helpful", model: modelOf(provider), tools });
    expect(await agent.chat("What's the weather in Paris?")).toBe("It is 22°C and sunny.");
    expect(run).toHaveBeenCalledTimes(1);
    const saved = agent.getHistory();
    expect(saved.map(({ role }) => role)).toEqual(["user", "assistant", "tool", "assistant"]);
    server.clear();
    const restored = new Agent({ instructions: "You are helpful", model: modelOf(provider), tools });
    restored.setHistory(saved);
    expect(await restored.chat("Is that warm?")).toBe("Yes, 22°C is warm.");
    expect(run).toHaveBeenCalledTimes(1);
    expect(server.asked()).toHaveLength(1);
  });
});

describe("a conversation that goes on with another provider", () => {
  const names = Object.keys(models);

  test.each(names.map((name, index) => [name, names[(index + 1) % names.length] ?? ""] as const))("from %s to %s", async (from, to) => {
    const first = new Agent({ model: modelOf(from), tools: [getWeather] });
    await first.chat("What's the weather in Paris?");
    server.clear();
    const second = new Agent({ model: modelOf(to), tools: [getWeather] });
    second.setHistory(first.getHistory());
    expect(await second.chat("Is that warm?")).toBe("Yes, 22°C is warm.");
    expect(server.asked()).toHaveLength(1);
    expect(JSON.stringify(server.asked()[0]?.body)).toContain("Weather in Paris: 22°C, Sunny");
  });
});

describe("thinking", () => {
  /** What went over the wire: the server's own record has one form for all APIs. */
  let sent: string[] = [];
  const fetch: typeof globalThis.fetch = async (input, init) => {
    sent.push(typeof init?.body === "string" ? init.body : "");
    return globalThis.fetch(input, init);
  };
  beforeEach(() => {
    sent = [];
  });

  const thoughtful = { reasoning: "Let me think.", reasoningSignature: "c2ln", redactedThinking: ["b3BhcXVl"] };

  beforeAll(() => {
    const isAsked = (text: string) => ({ userMessage: text, hasToolResult: false });
    server.mock.prependFixture({ match: isAsked("Think about Paris"), response: { ...thoughtful, toolCalls: [{ name: "getWeather", arguments: '{"city":"Paris"}' }] } });
    server.mock.prependFixture({ match: isAsked("Think about Rome"), response: { reasoning: "Let me think.", content: "Rome is warm." } });
  });

  test("goes back to Anthropic as it came, and to nobody else", async () => {
    const claude = createAnthropic({ baseURL: `${server.url}/v1`, apiKey, fetch });
    const providerOptions = { anthropic: { thinking: { type: "enabled", budgetTokens: 1024 } } };
    const agent = new Agent({ model: claude("claude-haiku-4-5"), tools: [getWeather], providerOptions });
    await agent.chat("Think about Paris");
    const blocks = [
      { type: "redacted_thinking", data: "b3BhcXVl" },
      { type: "thinking", thinking: "Let me think.", signature: "c2ln" },
    ];
    const [, second = ""] = sent;
    for (const block of blocks) expect(second).toContain(JSON.stringify(block));
    expect(second.indexOf("thinking")).toBeLessThan(second.indexOf("tool_use"));
    expect(JSON.stringify(agent.getHistory())).not.toContain("think.");
  });

  test("goes back to OpenAI sealed, and OpenAI is asked to store nothing", async () => {
    const gpt = createOpenAI({ baseURL: `${server.url}/v1`, apiKey, fetch });
    const agent = new Agent({ model: gpt("gpt-5-mini") });
    await agent.chat("Think about Rome");
    await agent.chat("Hello");
    const [first, second = ""] = sent;
    expect(JSON.parse(first ?? "")).toMatchObject({ store: false, include: ["reasoning.encrypted_content"] });
    expect(JSON.parse(second)).toMatchObject({
      store: false,
      input: [{ role: "user" }, { type: "reasoning", encrypted_content: expect.any(String) as unknown }, { role: "assistant" }, { role: "user" }],
    });
    expect(second).not.toContain("item_reference");
  });
});

describe("what goes wrong over HTTP", () => {
  test("a limit is waited for", async () => {
    server.mock.nextRequestError(429, { message: "slow down" });
    const agent = new Agent({ model: modelOf("OpenAI Chat") });
    expect(await agent.chat("Hello")).toBe("Hello!");
    expect(server.asked().map(({ path }) => path)).toHaveLength(2);
  });

  test.each(Object.keys(models))("%s echoes a key: nobody sees it", async (provider) => {
    server.mock.nextRequestError(401, { message: `Incorrect API key provided: ${apiKey}. See https://example.com/keys?key=${apiKey}` });
    const agent = new Agent({ model: modelOf(provider) });
    const error: unknown = await agent.chat("Hello").catch((thrown: unknown) => thrown);
    expect(error).toMatchObject({ code: "provider_error", retryable: false, details: { statusCode: 401 } });
    expect(`${String(error)} ${JSON.stringify(error)}`).not.toContain(apiKey);
  });

  describe.each(["OpenAI Chat", "OpenAI-compatible"])("an answer of %s", (provider) => {
    const delta = { id: "c", created: 1, model: "m", choices: [{ index: 0, delta: { content: "Hel" }, finish_reason: null }] };
    const whole = { ...delta, choices: [{ index: 0, delta: { content: "Hello!" }, finish_reason: "stop" }] };

    /** Answers the first request with `events`, and every later one as it should be. */
    function agentOf(...events: unknown[]): { agent: Agent; asked: () => number } {
      let asked = 0;
      const answer = async (): Promise<Response> => {
        const body = (asked === 0 ? events : [whole]).map((event) => `data: ${JSON.stringify(event)}\n\n`).join("");
        asked += 1;
        return new Response(body, { headers: { "content-type": "text/event-stream" } });
      };
      const options = { baseURL: "http://models.test/v1", apiKey, fetch: answer };
      const model = provider === "OpenAI Chat" ? createOpenAI(options).chat("gpt-5-mini") : createOpenAICompatible({ name: "local", ...options })("llama");
      return { agent: new Agent({ model }), asked: () => asked };
    }

    test.each<[string, ...unknown[]]>([
      ["ends in the midst", delta],
      ["never begins"],
      ["ends with the server's fault", delta, { error: { message: "Try again", type: "server_error", param: null, code: null } }],
      ["ends with a gateway's fault", delta, { error: { message: "Upstream is gone", code: 502 } }],
    ])("that %s is asked for again", async (_how, ...events) => {
      const { agent, asked } = agentOf(...events);
      expect([await agent.chat("Hello"), asked()]).toEqual(["Hello!", 2]);
    });

    test("that ends with the caller's fault is not", async () => {
      const { agent, asked } = agentOf(delta, { error: { message: "Too long", type: "invalid_request_error", param: null, code: "context_length_exceeded" } });
      await expect(agent.chat("Hello")).rejects.toMatchObject({ code: "provider_error", retryable: false, message: "Too long" });
      expect(asked()).toBe(1);
    });
  });

  test("a server that is gone is a failure that may pass", async () => {
    const gone = createOpenAICompatible({ name: "local", baseURL: "http://127.0.0.1:9/v1" })("llama");
    const agent = new Agent({ model: gone, maxRetries: 0 });
    await expect(agent.chat("Hello")).rejects.toMatchObject({ code: "provider_error", retryable: true });
  });
});

describe("the environment names the model", () => {
  const run = async (): Promise<string> => new Agent().chat("Hello");
  const paths = (): string[] => server.asked().map(({ path, body }) => `${path} ${String(body["model"])}`);

  beforeEach(() => {
    for (const name of ["ORCHA_MODEL", "ORCHA_BASE_URL", "ORCHA_API_KEY", "OPENAI_API_KEY", "ANTHROPIC_API_KEY", "GOOGLE_GENERATIVE_AI_API_KEY"]) vi.stubEnv(name, "");
    vi.stubEnv("OPENAI_BASE_URL", `${server.url}/v1`);
    vi.stubEnv("ANTHROPIC_BASE_URL", `${server.url}/v1`);
  });
  afterEach(() => void vi.unstubAllEnvs());

  test("the first key that is set decides", async () => {
    vi.stubEnv("ANTHROPIC_API_KEY", apiKey);
    await run();
    vi.stubEnv("OPENAI_API_KEY", apiKey);
    await run();
    expect(paths()).toEqual(["/v1/messages claude-haiku-4-5", "/v1/responses gpt-5-mini"]);
  });

  test.each([
    ["openai/gpt-5-mini", "/v1/responses gpt-5-mini"],
    ["gpt-4o", "/v1/responses gpt-4o"],
    ["some-model", "/v1/responses some-model"],
    ["claude-haiku-4-5", "/v1/messages claude-haiku-4-5"],
    ["anthropic/claude-next", "/v1/messages claude-next"],
  ])("ORCHA_MODEL=%s asks %s", async (name, path) => {
    vi.stubEnv("OPENAI_API_KEY", apiKey);
    vi.stubEnv("ANTHROPIC_API_KEY", apiKey);
    vi.stubEnv("ORCHA_MODEL", name);
    await run();
    expect(paths()).toEqual([path]);
    server.clear();
    vi.stubEnv("ORCHA_MODEL", "");
    await new Agent({ model: name }).chat("Hello");
    expect(paths()).toEqual([path]);
  });

  test("ORCHA_BASE_URL is where every other name leads", async () => {
    vi.stubEnv("ORCHA_BASE_URL", `${server.url}/v1`);
    vi.stubEnv("ORCHA_API_KEY", apiKey);
    vi.stubEnv("ORCHA_MODEL", "meta-llama/Llama-4");
    expect(await run()).toBe("Hello!");
    vi.stubEnv("ORCHA_MODEL", "qwen");
    await run();
    expect(paths()).toEqual(["/v1/chat/completions meta-llama/Llama-4", "/v1/chat/completions qwen"]);
    vi.stubEnv("ORCHA_MODEL", "");
    await expect(run()).rejects.toThrow("ORCHA_MODEL must name a model of that server");
  });

  test.each([
    [{}, undefined, "set ORCHA_MODEL, or one of OPENAI_API_KEY, ANTHROPIC_API_KEY, GOOGLE_GENERATIVE_AI_API_KEY"],
    [{}, "mistral/large", '"mistral/large" names no provider that is known: openai, anthropic, google, or set ORCHA_BASE_URL'],
    [{}, "openai/", '"openai/" names no model'],
  ])("%j and model %s: %s", async (environment, model, message) => {
    for (const [name, value] of Object.entries(environment)) vi.stubEnv(name, String(value));
    const agent = new Agent(model === undefined ? {} : { model });
    await expect(agent.chat("Hello")).rejects.toMatchObject({ code: "invalid_input", message: expect.stringContaining(message) as unknown });
  });
});
