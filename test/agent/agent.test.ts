import { Agent, HistoryError, OrchaError, setDefaultModel, type AgentMessage } from "@orcha/agent";
import { scriptedModel, type ScriptEntry, type ScriptedModel, type ScriptRequest } from "@orcha/agent/testing";
import { afterEach, describe, expect, test, vi } from "vitest";

const getWeather = (city: string): string => `Weather in ${city}: 22°C, Sunny`;
const weather = [{ toolCalls: [{ name: "getWeather", arguments: { city: "Paris" } }] }, { text: "22°C and sunny." }] satisfies ScriptEntry[];
const weatherHistory: AgentMessage[] = [
  { role: "user", content: "What's the weather in Paris?" },
  { role: "assistant", content: null, tool_calls: [{ id: "call_1", type: "function", function: { name: "getWeather", arguments: '{"city":"Paris"}' } }] },
  { role: "tool", content: "Weather in Paris: 22°C, Sunny", tool_call_id: "call_1", name: "getWeather" },
  { role: "assistant", content: "22°C and sunny." },
];

function agentOf(script: ScriptEntry[], more: ConstructorParameters<typeof Agent>[0] = {}): { agent: Agent; model: ScriptedModel } {
  const model = scriptedModel(script);
  return { agent: new Agent({ instructions: "You are helpful", model, ...more }), model };
}

/** The roles of a request and the texts that a person would read in it. */
function toldIn(request: ScriptRequest | undefined): string[] {
  return (request?.prompt ?? []).map(({ role, content }) => {
    if (typeof content === "string") return `${role}: ${content}`;
    return `${role}: ${content.map((part) => (part.type === "text" ? part.text : part.type)).join(" ")}`;
  });
}

afterEach(() => setDefaultModel(undefined));

describe("a chat", () => {
  test("is remembered, and replayed with the next", async () => {
    const { agent, model } = agentOf([{ text: "Hello, Alice" }, { text: "Your name is Alice" }]);
    expect(await agent.chat("My name is Alice")).toBe("Hello, Alice");
    expect(await agent.chat("What is my name?")).toBe("Your name is Alice");
    expect(toldIn(model.requests[1])).toEqual(["system: You are helpful", "user: My name is Alice", "assistant: Hello, Alice", "user: What is my name?"]);
    expect(agent.getHistory()).toEqual([
      { role: "user", content: "My name is Alice" },
      { role: "assistant", content: "Hello, Alice" },
      { role: "user", content: "What is my name?" },
      { role: "assistant", content: "Your name is Alice" },
    ]);
  });

  test("records its tool turns, with names", async () => {
    const { agent } = agentOf(weather, { tools: [getWeather] });
    expect(await agent.chat("What's the weather in Paris?")).toBe("22°C and sunny.");
    expect(agent.getHistory()).toEqual(weatherHistory);
  });

  test("tells its text as it comes, and prints nothing", async () => {
    const out = vi.spyOn(process.stdout, "write");
    const { agent } = agentOf([{ text: "Hello, Alice", chunkSize: 6 }]);
    const texts: string[] = [];
    await agent.chat("Hi", { onText: (text) => texts.push(text) });
    expect(texts).toEqual(["Hello,", "Hello, Alice"]);
    expect(out).not.toHaveBeenCalled();
  });

  test("that fails throws its code and leaves no trace", async () => {
    const { agent } = agentOf([...weather.slice(0, 1), { error: { message: "bad key", statusCode: 401 } }, { text: "Hello" }], { tools: [getWeather] });
    const error = await agent.chat("Weather?").catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(OrchaError);
    expect(error).toMatchObject({ code: "provider_error", message: "bad key", retryable: false, details: { statusCode: 401 } });
    expect(agent.getHistory()).toEqual([]);
    expect(await agent.chat("Hi")).toBe("Hello");
  });

  test("that would act for ever is ended", async () => {
    const model = scriptedModel(() => ({ toolCalls: [{ name: "getWeather", arguments: { city: "Paris" } }] }));
    const agent = new Agent({ model, tools: [getWeather], maxRounds: 2 });
    await expect(agent.chat("Weather?")).rejects.toMatchObject({ code: "execution_failed" });
    expect(model.requests).toHaveLength(3);
  });

  test.each(["pause", "lost", new Error("x"), undefined])("that is stopped throws, for any reason: %s", async (reason) => {
    const { agent, model } = agentOf([{ text: "Hello, Alice", chunkSize: 5, delayMs: 1 }]);
    const stop = new AbortController();
    await expect(agent.chat("Hi", { signal: stop.signal, onText: () => stop.abort(reason) })).rejects.toMatchObject({ code: "aborted" });
    expect(agent.getHistory()).toEqual([]);
    expect(model.requests[0]?.abortSignal?.aborted).toBe(true);
  });

  test("whose listener throws stops the model", async () => {
    const { agent, model } = agentOf([{ text: "Hello, Alice", chunkSize: 5 }]);
    const chat = agent.chat("Hi", {
      onText: () => {
        throw new Error("no screen");
      },
    });
    await expect(chat).rejects.toThrow("no screen");
    expect(model.requests[0]?.abortSignal?.aborted).toBe(true);
  });

  test("is one at a time", async () => {
    const { agent } = agentOf([{ text: "One", delayMs: 5 }, { text: "Two" }]);
    const first = agent.chat("1");
    await expect(agent.chat("2")).rejects.toMatchObject({ code: "session_busy", retryable: true });
    await expect(agent.stream("2").next()).rejects.toMatchObject({ code: "session_busy" });
    expect(await first).toBe("One");
    expect(await agent.chat("2")).toBe("Two");
    expect(agent.getHistory().map(({ content }) => content)).toEqual(["1", "One", "2", "Two"]);
  });

  test.each(["", "  "])("needs something to say: %j", async (prompt) => {
    await expect(agentOf([]).agent.chat(prompt)).rejects.toMatchObject({ code: "invalid_input", details: { path: "prompt" } });
  });

  test("keeps what the provider needs back as long as the process lives", async () => {
    const model = scriptedModel([{ text: "Hi" }, { text: "Hi" }]);
    const sealed: ScriptedModel = {
      ...model,
      doStream: async (options) => {
        const { stream } = await model.doStream(options);
        const parts: ReadableStream = stream.pipeThrough(
          new TransformStream({
            transform: (part: { type: string }, to) => to.enqueue(part.type === "text-end" ? { ...part, providerMetadata: { scripted: { id: "msg_1" } } } : part),
          }),
        );
        return { stream: parts };
      },
    };
    const agent = new Agent({ model: sealed });
    await agent.chat("1");
    await agent.chat("2");
    expect(model.requests[1]?.prompt[1]?.content).toEqual([{ type: "text", text: "Hi", providerOptions: { scripted: { id: "msg_1" } } }]);
    expect(JSON.stringify(agent.getHistory())).not.toContain("msg_1");
  });
});

test("start answers and records nothing", async () => {
  const { agent, model } = agentOf([{ text: "One" }, { text: "Two" }]);
  await agent.chat("1");
  const before = agent.getHistory();
  expect(await agent.start("2")).toBe("Two");
  expect(toldIn(model.requests[1])).toHaveLength(4);
  expect(agent.getHistory()).toEqual(before);
});

describe("a stream", () => {
  async function read(stream: AsyncIterable<string>, until = Number.POSITIVE_INFINITY): Promise<string[]> {
    const deltas: string[] = [];
    for await (const delta of stream) {
      deltas.push(delta);
      if (deltas.length >= until) break;
    }
    return deltas;
  }

  test("gives pieces and is recorded", async () => {
    const { agent } = agentOf([{ text: "Let me look.", ...weather[0] }, { text: "22°C and sunny.", chunkSize: 8 }], { tools: [getWeather] });
    expect(await read(agent.stream("Weather?"))).toEqual(["Let me look.", "22°C and", " sunny."]);
    expect(agent.getHistory().map(({ role }) => role)).toEqual(["user", "assistant", "tool", "assistant"]);
  });

  test("that is left stops the model and keeps what was shown", async () => {
    const { agent, model } = agentOf([...weather.slice(0, 1), { text: "22°C and sunny.", chunkSize: 4, delayMs: 1 }, { text: "Well" }], { tools: [getWeather] });
    expect(await read(agent.stream("Weather?"), 2)).toEqual(["22°C", " and"]);
    expect(model.requests[1]?.abortSignal?.aborted).toBe(true);
    expect(agent.getHistory().at(-1)).toEqual({ role: "assistant", content: "22°C and" });
    await agent.chat("Go on");
    expect(toldIn(model.requests[2]).slice(-2)).toEqual(["assistant: 22°C and", "user: Go on"]);
  });

  test("that is stopped throws and keeps what was shown", async () => {
    const { agent } = agentOf([{ text: "Hello, Alice", chunkSize: 5, delayMs: 1 }]);
    const stop = new AbortController();
    const deltas: string[] = [];
    const reading = (async () => {
      for await (const delta of agent.stream("Hi", { signal: stop.signal })) {
        deltas.push(delta);
        stop.abort();
      }
    })();
    await expect(reading).rejects.toMatchObject({ code: "aborted" });
    expect(agent.getHistory()).toEqual([
      { role: "user", content: "Hi" },
      { role: "assistant", content: deltas.join("") },
    ]);
  });

  test("that is stopped before anything was shown leaves no trace", async () => {
    const { agent } = agentOf([{ text: "Hello" }]);
    await expect(read(agent.stream("Hi", { signal: AbortSignal.abort() }))).rejects.toMatchObject({ code: "aborted" });
    expect(agent.getHistory()).toEqual([]);
  });

  test("that breaks is not made again, since its pieces can't be taken back", async () => {
    const { agent, model } = agentOf([{ text: "Hello, Al", error: { message: "cut", retryable: true } }, { text: "Hello, Alice" }]);
    await expect(read(agent.stream("Hi"))).rejects.toMatchObject({ code: "provider_error", message: "cut", retryable: true });
    expect(model.requests).toHaveLength(1);
    expect(agent.getHistory()).toEqual([]);
    expect(await agent.chat("Hi")).toBe("Hello, Alice");
  });
});

test("an answer that was made again is recorded once", async () => {
  const headers = { "retry-after-ms": "1" };
  const { agent } = agentOf([{ text: "Hello, Al", error: { message: "cut", retryable: true, headers } }, { text: "Hello, Alice" }]);
  await agent.chat("Hi");
  expect(agent.getHistory().map(({ content }) => content)).toEqual(["Hi", "Hello, Alice"]);
});

describe("a history", () => {
  test("is a copy on its way out and in", async () => {
    const { agent } = agentOf(weather, { tools: [getWeather] });
    await agent.chat("What's the weather in Paris?");
    const saved = agent.getHistory();
    const call = saved[1]?.tool_calls?.[0];
    if (call) call.function.name = "changed";
    saved.pop();
    expect(agent.getHistory()).toEqual(weatherHistory);
    const given: AgentMessage[] = structuredClone(weatherHistory);
    agent.setHistory(given);
    given[0] = { role: "user", content: "changed" };
    const [, turn] = given;
    if (turn?.tool_calls) turn.tool_calls.length = 0;
    expect(agent.getHistory()).toEqual(weatherHistory);
  });

  test("that was restored goes to the model without a tool being run again", async () => {
    const run = vi.fn<typeof getWeather>(getWeather);
    const { agent, model } = agentOf([{ text: "Yes." }], { tools: [{ name: "getWeather", execute: run }] });
    agent.setHistory(weatherHistory);
    expect(await agent.chat("Is that warm?")).toBe("Yes.");
    expect(run).not.toHaveBeenCalled();
    expect(toldIn(model.requests[0])).toEqual([
      "system: You are helpful",
      "user: What's the weather in Paris?",
      "assistant: tool-call",
      "tool: tool-result",
      "assistant: 22°C and sunny.",
      "user: Is that warm?",
    ]);
  });

  test("loses a leading system message, and its names are filled in", async () => {
    const { agent } = agentOf([]);
    const { name: _name, ...nameless } = weatherHistory[2] ?? { role: "tool", content: null };
    agent.setHistory([{ role: "system", content: "Old" }, ...weatherHistory.slice(0, 2), nameless]);
    expect(agent.getHistory()).toEqual(weatherHistory.slice(0, 3));
  });

  test.each<[unknown, string]>([
    ["text", "expected an array of messages"],
    [[null], "message at index 0 is not an object"],
    [[{ role: "robot", content: "x" }], 'message at index 0 has unknown role "robot"'],
    [[{ role: "system", content: "" }, { role: "system", content: "" }], "unexpected system message at index 1"],
    [[{ role: "tool", content: "x", tool_call_id: "c" }], 'orphaned tool_call_id "c"'],
    [[{ role: "user", content: 5 }], "message at index 0 has content that is neither a string nor null"],
  ])("%j is refused, and nothing changes", async (given, message) => {
    const { agent } = agentOf([]);
    agent.setHistory(weatherHistory);
    // What no type allows is what is tried.
    const set = (): void => agent.setHistory(given as AgentMessage[]);
    expect(set).toThrow(HistoryError);
    expect(set).toThrow(message);
    expect(agent.getHistory()).toEqual(weatherHistory);
  });

  test("that is replaced while a turn is under way doesn't get that turn", async () => {
    const { agent } = agentOf([{ text: "One", delayMs: 5 }]);
    const chat = agent.chat("1");
    agent.setHistory(weatherHistory);
    expect(await chat).toBe("One");
    expect(agent.getHistory()).toEqual(weatherHistory);
    agent.clearHistory();
    expect(agent.getHistory()).toEqual([]);
  });

  test("with a call that has no result is answered for the model, not in itself", async () => {
    const { agent, model } = agentOf([{ text: "Sorry." }]);
    agent.setHistory(weatherHistory.slice(0, 2));
    await agent.chat("And?");
    expect(toldIn(model.requests[0])).toEqual(["system: You are helpful", "user: What's the weather in Paris?", "assistant: tool-call", "tool: tool-result", "user: And?"]);
    expect(agent.getHistory().map(({ role }) => role)).toEqual(["user", "assistant", "user", "assistant"]);
  });
});

describe("a cache", () => {
  test("is off by default", async () => {
    const { agent, model } = agentOf([{ text: "1" }, { text: "2" }]);
    expect([await agent.start("Q"), await agent.start("Q")]).toEqual(["1", "2"]);
    expect(model.requests).toHaveLength(2);
  });

  test("answers the same prompt to the same conversation, and to no other", async () => {
    const { agent, model } = agentOf([{ text: "1" }, { text: "2" }, { text: "3" }, { text: "4" }], { cache: true });
    expect([await agent.start("Q"), await agent.start("Q"), await agent.start("R")]).toEqual(["1", "1", "2"]);
    expect(await agent.chat("Q")).toBe("1");
    expect(agent.getHistory().map(({ content }) => content)).toEqual(["Q", "1"]);
    expect(await agent.start("Q")).toBe("3");
    agent.clearHistory();
    expect(await agent.start("Q")).toBe("4");
    expect(model.requests).toHaveLength(4);
  });

  test("is cleared by a history that was taken, not by one that was refused", async () => {
    const { agent } = agentOf([{ text: "1" }, { text: "2" }], { cache: true });
    await agent.start("Q");
    expect(() => agent.setHistory([{ role: "tool", content: "x" }])).toThrow(HistoryError);
    expect(await agent.start("Q")).toBe("1");
    agent.setHistory([]);
    expect(await agent.start("Q")).toBe("2");
  });

  test("forgets the oldest, and what is too old", async () => {
    const { agent } = agentOf(["1", "2", "3", "4"].map((text) => ({ text })), { cache: { max: 1, ttlMs: 60_000 } });
    expect([await agent.start("Q"), await agent.start("R"), await agent.start("R"), await agent.start("Q")]).toEqual(["1", "2", "2", "3"]);
    vi.useFakeTimers({ now: Date.now() + 60_001, toFake: ["Date"] });
    expect(await agent.start("Q")).toBe("4");
    vi.useRealTimers();
  });
});

test("the default model is that of agents without one", async () => {
  setDefaultModel(scriptedModel([{ text: "Hi" }]));
  expect(await new Agent().chat("Hello")).toBe("Hi");
});
