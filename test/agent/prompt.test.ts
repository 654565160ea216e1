import type { LanguageModelV4Prompt } from "@ai-sdk/provider";
import { promptOf } from "@orcha/agent/loop";
import { isPlainObject, type AgentMessage, type AssistantContent, type MessageContent, type ToolResultContent, type Turn } from "@orcha/contract";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { agentMessages, callIds, eventLogs, texts } from "../arbitraries.ts";
import { corpusInput, pairsOf, stringsIn, turnsOf, turnsOfLog } from "./conversation.ts";
import { says } from "./driving.ts";

const model = { provider: "anthropic.messages", modelId: "claude-sonnet-5" };
const safe = /^[A-Za-z0-9_-]{1,64}$/;

function prompt(turns: readonly Turn[], more: Partial<Parameters<typeof promptOf>[0]> = {}): LanguageModelV4Prompt {
  return promptOf({ instructions: "", turns, model, ...more });
}

function assistant(content: AssistantContent[], more: object = {}): Turn {
  return { role: "assistant", content, ...more };
}

function result(...content: ToolResultContent[]): Turn {
  return { role: "tool", content };
}

/** Any turns at all, in an order that no log would have. */
function wildTurns(): fc.Arbitrary<Turn[]> {
  const ids = fc.oneof(callIds(), fc.constantFrom("", "call 0", "call_0_2", "x".repeat(80)));
  const call = fc.record({ type: fc.constant("tool_call" as const), callId: ids, name: fc.constantFrom("look", "look up", "look_up", "é"), arguments: fc.anything() });
  const text = fc.record({ type: fc.constant("text" as const), text: texts() });
  return fc.array(
    fc.oneof(
      fc.array(text, { maxLength: 2 }).map((content): Turn => ({ role: "user", content })),
      fc.record({ content: fc.array(fc.oneof(text, call), { maxLength: 4 }), status: fc.constantFrom("completed" as const, "incomplete" as const) }).map(
        (turn): Turn => ({ role: "assistant", ...turn }),
      ),
      fc.array(fc.record({ callId: ids, output: fc.jsonValue(), isError: fc.boolean() }), { maxLength: 3 }).map((content): Turn => ({ role: "tool", content })),
    ),
    { maxLength: 14 },
  );
}

/** What a provider would refuse of a prompt. */
function faultsOf(messages: LanguageModelV4Prompt): string[] {
  const faults: string[] = [];
  const check = (isGood: boolean, fault: string): void => {
    if (!isGood) faults.push(fault);
  };
  const ids = new Set<string>();
  for (const [index, { role, content }] of messages.entries()) {
    check(content.length > 0, `${role} ${index} is empty`);
    check(role !== "tool" || messages[index - 1]?.role === "assistant", `results at ${index} stand alone`);
    for (const part of typeof content === "string" ? [] : content) {
      if ("toolName" in part) check(safe.test(part.toolName), `tool ${part.toolName}`);
      if (part.type === "tool-call") check(isPlainObject(part.input), `input ${JSON.stringify(part.input)}`);
      if (part.type === "text") check(part.text.trim() !== "", `blank text at ${index}`);
    }
  }
  for (const { calls, results } of pairsOf(messages)) {
    check(JSON.stringify(results) === JSON.stringify(calls), `calls ${calls.join()} have results ${results.join()}`);
    for (const id of calls) {
      check(safe.test(id) && !ids.has(id), `call id ${id}`);
      ids.add(id);
    }
  }
  for (const text of stringsIn(messages)) check(text.isWellFormed(), JSON.stringify(text));
  return faults;
}

describe("for every conversation, each call has one result right behind its turn, and all names are safe and distinct", () => {
  test("histories", () => {
    fc.assert(fc.property(agentMessages(), (messages) => {
        expect(faultsOf(prompt(turnsOf(messages)))).toEqual([]);
      }));
  });

  test("logs", () => {
    fc.assert(fc.property(eventLogs(), (events) => {
        expect(faultsOf(prompt(turnsOfLog(events)))).toEqual([]);
      }), { numRuns: 60 });
  });

  test("anything", () => {
    fc.assert(fc.property(wildTurns(), (turns) => {
        expect(faultsOf(prompt(turns))).toEqual([]);
      }));
  });

  test("what was said before is said the same way as the conversation grows", () => {
    fc.assert(
      fc.property(agentMessages(), (messages) => {
        const turns = turnsOf(messages);
        const short = turns.slice(0, turns.findLastIndex(({ role }) => role === "user") + 1);
        const before = prompt(short);
        expect(prompt([...short, assistant([{ type: "text", text: "Done" }])]).slice(0, before.length)).toEqual(before);
      }),
    );
  });
});

describe("pairs", () => {
  const call = (callId: string, name = "look"): AssistantContent => ({ type: "tool_call", callId, name, arguments: {} });
  const outputs = (messages: LanguageModelV4Prompt): unknown[] =>
    messages.flatMap(({ role, content }) => (role === "tool" ? content.map((part) => (part.type === "tool-result" ? part.output.type === "text" ? part.output.value : part.output.type : "")) : []));

  test("results stand in the calls' order, wherever the log has them", () => {
    const turns = [assistant([call("a"), call("b")]), says("Well?"), result({ callId: "b", output: "B" }), result({ callId: "a", output: "A" })];
    expect(prompt(turns).map(({ role }) => role)).toEqual(["assistant", "tool", "user"]);
    expect(outputs(prompt(turns))).toEqual(["A", "B"]);
  });

  test("the first result stands, one without a call is nobody's, and a call without one is told so", () => {
    const turns = [result({ callId: "a", output: "early" }), assistant([call("a"), call("b")]), result({ callId: "a", output: "1" }), result({ callId: "a", output: "2" })];
    expect(outputs(prompt(turns))).toEqual(["1", "error-text"]);
  });

  test("an id that a later turn uses again is another call's", () => {
    const turns = [assistant([call("a")]), assistant([call("a")]), result({ callId: "a", output: "second" }), result({ callId: "a", output: "again" })];
    expect(outputs(prompt(turns))).toEqual(["error-text", "second"]);
    expect(pairsOf(prompt(turns)).flatMap(({ calls }) => calls)).toEqual(["a", "a_2"]);
  });

  test("a turn that uses an id twice gets its results in order", () => {
    expect(outputs(prompt([assistant([call("a"), call("a")]), result({ callId: "a", output: "1" }, { callId: "a", output: "2" })]))).toEqual(["1", "2"]);
  });

  test("names that need a change get one name each, and none that another tool has", () => {
    const names = ["get.weather", "get_weather", "get weather", "look up", ""];
    const turns = names.map((name, index) => assistant([call(`c${index}`, name)]));
    const used = prompt([...turns, ...turns], { toolNames: ["look_up"] }).flatMap(({ role, content }) =>
      role === "assistant" ? content.flatMap((part) => (part.type === "tool-call" ? [part.toolName] : [])) : [],
    );
    expect(used.slice(0, 5)).toEqual(["get_weather_2", "get_weather", "get_weather_3", "look_up_2", "tool"]);
    expect(used.slice(5)).toEqual(used.slice(0, 5));
  });
});

describe("content", () => {
  const parts = (...content: MessageContent[]) => prompt([{ role: "user", content }])[0]?.content;

  test("media go as they are, and what nobody can fetch is told of", () => {
    expect(
      parts(
        { type: "text", text: "Look" },
        { type: "image", mimeType: "image/png", fileUri: "https://example.com/a.png" },
        { type: "image", mimeType: "image/png", fileUri: "data:image/png;base64,AAAA" },
        { type: "url", mimeType: "text/plain", fileUri: "data:text/plain,caf%C3%A9" },
        { type: "video", mimeType: "video/mp4", fileUri: "gs://bucket/a.mp4" },
        { type: "image", mimeType: "image/png", fileUri: "data:image/png,%E0%A4%A" },
        { type: "file", filePath: "/home/me/a.pdf", mimeType: "application/pdf" },
      ),
    ).toEqual([
      { type: "text", text: "Look" },
      { type: "file", mediaType: "image/png", data: { type: "url", url: new URL("https://example.com/a.png") } },
      { type: "file", mediaType: "image/png", data: { type: "data", data: "AAAA" } },
      { type: "file", mediaType: "text/plain", data: { type: "data", data: btoa("caf\u00c3\u00a9") } },
      { type: "text", text: "[video: gs://bucket/a.mp4]" },
      { type: "text", text: "[image: data]" },
      { type: "text", text: "[file: /home/me/a.pdf]" },
    ]);
  });

  test.each([
    [{ output: "4 C" }, { type: "text", value: "4 C" }],
    [{ output: { c: 4 } }, { type: "json", value: { c: 4 } }],
    [{ output: null }, { type: "text", value: "" }],
    [{}, { type: "text", value: "" }],
    [{ output: "no", isError: true }, { type: "error-text", value: "no" }],
    [{ output: { error: "denied" }, isError: true }, { type: "error-json", value: { error: "denied" } }],
    [{ isError: true }, { type: "error-text", value: "the call failed" }],
  ])("a result %j", (block, output) => {
    const [, tool] = prompt([assistant([{ type: "tool_call", callId: "a", name: "look" }]), result({ callId: "a", ...block })]);
    expect(tool?.content).toMatchObject([{ output }]);
  });

  test.each([
    [{ arguments: { a: 1 } }, { a: 1 }],
    [{ arguments: {}, argumentsText: "" }, {}],
    [{}, {}],
    [{ argumentsText: '{"a":' }, { invalid_arguments: '{"a":' }],
    [{ argumentsText: '{"id":9007199254740993,"n":[1,9007199254740994]}' }, { id: "9007199254740993", n: [1, 9007199254740994] }],
    [{ argumentsText: '{"a":1e400}' }, { invalid_arguments: '{"a":1e400}' }],
    [{ arguments: [1] }, { value: [1] }],
    [{ arguments: null }, { value: null }],
  ])("arguments %j", (given, input) => {
    expect(prompt([assistant([{ type: "tool_call", callId: "a", name: "look", ...given }])])[0]?.content).toMatchObject([{ input }]);
  });

  test("an answer that was made again is left out, one that the user went on from stays", () => {
    const cut = assistant([{ type: "text", text: "Hel" }], { status: "incomplete" });
    const whole = assistant([{ type: "text", text: "Hello" }]);
    expect(prompt([says("Hi"), cut]).map(({ role }) => role)).toEqual(["user"]);
    expect(prompt([says("Hi"), cut, whole]).map(({ role }) => role)).toEqual(["user", "assistant"]);
    expect(prompt([says("Hi"), cut, says("Go on")]).map(({ role }) => role)).toEqual(["user", "assistant", "user"]);
  });
});

describe("capsules", () => {
  const thinking: AssistantContent = { type: "reasoning", text: "", replay: { providerId: "anthropic", opaqueData: { signature: "sig" } } };
  const text: AssistantContent = { type: "text", text: "Free" };
  const typesFor = (turn: Turn, to = model): string[] => prompt([turn], { model: to }).flatMap(({ content }) => (typeof content === "string" ? [] : content.map(({ type }) => type)));

  test.each([
    ["the model that made it", { provider: "anthropic.messages", model: "claude-sonnet-5" }, true],
    ["the same provider by its short name", { provider: "anthropic", model: "claude-sonnet-5" }, true],
    ["a model that isn't told", {}, true],
    ["another model", { provider: "anthropic", model: "claude-opus-4" }, false],
    ["another provider", { provider: "openai", model: "claude-sonnet-5" }, false],
  ])("go back to %s: %j", (_what, stated, goes) => {
    expect(typesFor(assistant([thinking, text], stated))).toEqual(goes ? ["reasoning", "text"] : ["text"]);
  });

  test("a key that is not the provider's goes to nobody but the very provider that made it", () => {
    const odd: AssistantContent = { type: "reasoning", text: "hm", replay: { providerId: "bedrock", opaqueData: { signature: "s" } } };
    const bedrock = { provider: "amazon-bedrock", modelId: "m" };
    expect(typesFor(assistant([odd], { provider: "amazon-bedrock", model: "m" }), bedrock)).toEqual(["reasoning"]);
    expect(typesFor(assistant([odd, text]), bedrock)).toEqual(["text"]);
    const mine: AssistantContent = { type: "text", text: "x", replay: { providerId: "myProvider", opaqueData: { id: "1" } } };
    expect(prompt([assistant([mine])], { model: { provider: "my-provider.chat", modelId: "m" } })[0]?.content).toEqual([
      { type: "text", text: "x", providerOptions: { myProvider: { id: "1" } } },
    ]);
  });

  test("thinking without a capsule, or with one that isn't data, goes to nobody", () => {
    expect(typesFor(assistant([{ type: "reasoning", text: "hm" }, { type: "reasoning", text: "hm", replay: { providerId: "anthropic", opaqueData: "x" } }, text]))).toEqual(["text"]);
  });

  test("OpenAI's thinking goes back where it is sealed, with all its parts", () => {
    const openai = { provider: "openai.responses", modelId: "gpt-5-mini" };
    const part = (words: string, itemId: string, sealed: string | null): AssistantContent => ({
      type: "reasoning",
      text: words,
      replay: { providerId: "openai", opaqueData: { itemId, reasoningEncryptedContent: sealed } },
    });
    const turn = assistant([part("a", "rs_1", null), part("b", "rs_1", "sealed"), part("c", "rs_2", null), text]);
    const [message] = prompt([turn], { model: openai });
    expect(message?.content).toMatchObject([{ text: "a" }, { text: "b" }, { text: "Free" }]);
  });
});

describe("the corpus", () => {
  test("002: an interrupted call is answered right behind its turn", () => {
    const messages = prompt(turnsOf(corpusInput<AgentMessage[]>("002")));
    expect(faultsOf(messages)).toEqual([]);
    expect(messages.map(({ role }) => role)).toEqual(["user", "assistant", "tool", "user"]);
    expect(JSON.stringify(messages[2])).toContain("no result was recorded");
  });

  test("003: a call id that is used again is made distinct", () => {
    const messages = prompt(turnsOf(corpusInput<AgentMessage[]>("003")));
    expect(pairsOf(messages).flatMap(({ calls }) => calls)).toEqual(["call_0", "call_0_2"]);
    expect(JSON.stringify(messages.at(-2))).toContain("22 C, dry");
  });

  test("008: no empty turn is sent", () => {
    const messages = prompt(turnsOf(corpusInput<AgentMessage[]>("008")));
    expect(messages.map(({ role }) => role)).toEqual(["user", "user", "user", "assistant"]);
  });

  test("012: every arguments text becomes an object", () => {
    const steps = corpusInput<{ steps: { id: string; format: string; input: AgentMessage[] }[] }>("012", "script.json").steps;
    for (const { input } of steps.filter(({ format }) => format === "openai-chat")) expect(faultsOf(prompt(turnsOf(input)))).toEqual([]);
  });

  test("015: signed thinking goes back as it is, in order, to its provider alone", () => {
    const calls: AssistantContent[] = [
      { type: "reasoning", text: "", replay: { providerId: "anthropic", opaqueData: { signature: "c2lnLW9wYXF1ZS0x" } } },
      { type: "reasoning", text: "", replay: { providerId: "anthropic", opaqueData: { redacted: "b3BhcXVlLTI=" } } },
      { type: "tool_call", callId: "toolu_s1", name: "seat", arguments: { no: "12A" } },
    ];
    const turns = [says("Is 12A free?"), assistant(calls), result({ callId: "toolu_s1", output: "free" })];
    expect(prompt(turns)[1]?.content).toMatchObject([
      { type: "reasoning", text: "", providerOptions: { anthropic: { signature: "c2lnLW9wYXF1ZS0x" } } },
      { type: "reasoning", text: "", providerOptions: { anthropic: { redactedData: "b3BhcXVlLTI=" } } },
      { type: "tool-call" },
    ]);
    const elsewhere = prompt(turns, { model: { provider: "openai.responses", modelId: "gpt-5-mini" } });
    expect(elsewhere[1]?.content).toEqual([{ type: "tool-call", toolCallId: "toolu_s1", toolName: "seat", input: { no: "12A" } }]);
  });

  test("018: half an emoji becomes U+FFFD, a whole one stays", () => {
    const call: AssistantContent = { type: "tool_call", callId: "call_rf1", name: "read", arguments: {} };
    const messages = prompt([says("Read 🙂"), assistant([call]), result({ callId: "call_rf1", output: "caf\u00e9 \ud83d" })]);
    expect(stringsIn(messages)).toContain("caf\u00e9 \ufffd");
    expect(stringsIn(messages)).toContain("Read 🙂");
  });
});
