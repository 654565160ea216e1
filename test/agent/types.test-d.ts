import { Agent, tool, type AgentMessage, type AgentOptions, type AgentTool, type ToolDefinition } from "@orcha/agent";
import type { Agent as MobileAgent } from "@orcha/agent/mobile";
import { runLoop, type LoopEnd, type LoopInput, type LoopStep } from "@orcha/agent/loop";
import { resolveModel } from "@orcha/agent/providers";
import { scriptedModel } from "@orcha/agent/testing";
import type { LanguageModelV4 } from "@ai-sdk/provider";
import * as v from "valibot";
import { expectTypeOf } from "vitest";

const agent = new Agent({ instructions: "Be kind", tools: [Math.max, (city: string, days = 1) => `${city} ${days}`] });

expectTypeOf(agent.chat("Hi")).toEqualTypeOf<Promise<string>>();
expectTypeOf(agent.start("Hi", { onText: (text) => expectTypeOf(text).toBeString() })).toEqualTypeOf<Promise<string>>();
expectTypeOf(agent.stream("Hi")).toExtend<AsyncIterable<string>>();
expectTypeOf(agent.getHistory()).toEqualTypeOf<AgentMessage[]>();
expectTypeOf<Parameters<Agent["setHistory"]>>().toEqualTypeOf<[readonly AgentMessage[]]>();
expectTypeOf<MobileAgent>().toExtend<Pick<Agent, keyof Agent>>();

// A schema whose input and output differ: a swap of the two doesn't pass.
const look = tool({
  name: "look",
  input: v.object({ city: v.string(), days: v.optional(v.number(), 1) }),
  execute: ({ city, days }, { callId, signal }) => {
    expectTypeOf(city).toBeString();
    expectTypeOf(days).toBeNumber();
    expectTypeOf(callId).toBeString();
    expectTypeOf(signal).toEqualTypeOf<AbortSignal>();
    return city;
  },
});
expectTypeOf(look).toEqualTypeOf<ToolDefinition<{ city: string; days: number }>>();
expectTypeOf(look).toExtend<AgentTool>();

// @ts-expect-error a schema's type is not another's
tool({ name: "look", input: v.object({ city: v.string() }), execute: ({ town }) => town });
expectTypeOf<{ tools: [{ name: string }] }>().not.toExtend<AgentOptions>();
expectTypeOf<{ tools: [typeof look, () => string] }>().toExtend<AgentOptions>();

expectTypeOf(runLoop).parameters.toEqualTypeOf<[LoopInput]>();
expectTypeOf(runLoop).returns.toEqualTypeOf<AsyncGenerator<LoopStep, LoopEnd>>();
expectTypeOf(resolveModel("openai/gpt-5-mini")).toEqualTypeOf<Promise<LanguageModelV4>>();
expectTypeOf(scriptedModel([{ text: "Hi" }])).toExtend<LanguageModelV4>();
expectTypeOf(scriptedModel(({ prompt }) => ({ text: String(prompt.length) }))).toExtend<LanguageModelV4>();
