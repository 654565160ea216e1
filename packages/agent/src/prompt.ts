import type {
  JSONValue,
  LanguageModelV4FilePart,
  LanguageModelV4Message,
  LanguageModelV4Prompt,
  LanguageModelV4TextPart,
  LanguageModelV4ToolResultOutput,
} from "@ai-sdk/provider";
import { argumentsText, findJsonFault, isPlainObject, type MessageContent, type ToolCallContent, type ToolResultContent, type Turn } from "@orcha/contract";
import { isReadable, optionsOf, type ModelName } from "./capsule.ts";
import { mediaPart, type MediaReach } from "./media-part.ts";
import { callsOf, pairResults } from "./pairing.ts";
import { wellFormed, wellFormedJson } from "./well-formed.ts";
import { ToolNames, WireNames } from "./wire-names.ts";

/** What a prompt is made of. */
export interface PromptInput {
  instructions: string;
  turns: readonly Turn[];
  model: ModelName;
  /** The tools that go with the prompt: no other name of the conversation is changed into one of theirs. */
  toolNames?: readonly string[];
  /** Which media the model is shown, not only told of; default all. */
  media?: MediaReach;
}

type Assistant = Extract<Turn, { role: "assistant" }>;
type AssistantParts = Extract<LanguageModelV4Message, { role: "assistant" }>["content"];

/**
 * Writes a conversation as any provider takes it: each call has exactly one result, right behind its turn and in the
 * calls' order; names are safe and distinct; what only its provider can read goes to no other.
 */
export function promptOf(input: PromptInput): LanguageModelV4Prompt {
  const { turns, model, media = "all" } = input;
  const results = pairResults(turns);
  const ids = new WireNames();
  const tools = new ToolNames([...(input.toolNames ?? []), ...turns.flatMap((turn) => callsOf(turn).map(({ name }) => name))]);
  const prompt: LanguageModelV4Prompt = [];
  if (input.instructions.trim() !== "") prompt.push({ role: "system", content: wellFormed(input.instructions) });
  for (const [index, turn] of turns.entries()) {
    if (turn.role === "user") {
      const content = turn.content.flatMap((block) => userPart(block, media));
      if (content.length > 0) prompt.push({ role: "user", content });
    }
    if (turn.role !== "assistant" || isMadeAgain(turns, index)) continue;
    const wireIds = new Map(callsOf(turn).map((call) => [call, ids.fresh(call.callId, "call")]));
    const content = assistantParts(turn, model, wireIds, tools);
    if (content.length > 0) prompt.push({ role: "assistant", content });
    if (wireIds.size === 0) continue;
    prompt.push({
      role: "tool",
      content: [...wireIds].map(([call, toolCallId]) => ({
        type: "tool-result",
        toolCallId,
        toolName: tools.of(call.name),
        output: outputOf(results.get(call)),
      })),
    });
  }
  return prompt;
}

/** An answer that was cut stays where a person saw it and went on; where the model tried again, the cut one is gone. */
function isMadeAgain(turns: readonly Turn[], index: number): boolean {
  const turn = turns[index];
  if (turn?.role !== "assistant" || turn.status !== "incomplete" || callsOf(turn).length > 0) return false;
  return turns[index + 1]?.role !== "user";
}

function userPart(block: MessageContent, media: MediaReach): (LanguageModelV4TextPart | LanguageModelV4FilePart)[] {
  if (block.type !== "text") return [mediaPart(block, media)];
  return block.text.trim() === "" ? [] : [{ type: "text", text: wellFormed(block.text) }];
}

function assistantParts(turn: Assistant, model: ModelName, wireIds: ReadonlyMap<ToolCallContent, string>, tools: ToolNames): AssistantParts {
  const options = turn.content.map((block) => ("replay" in block ? optionsOf(block.replay, turn, model) : undefined));
  return turn.content.flatMap((block, index): AssistantParts => {
    const own = options[index];
    const providerOptions = own === undefined ? {} : { providerOptions: own };
    switch (block.type) {
      case "text":
        // Google puts signatures on empty text; without one, empty text is refused.
        return block.text.trim() === "" && own === undefined ? [] : [{ type: "text", text: wellFormed(block.text), ...providerOptions }];
      case "reasoning":
        return own !== undefined && isReadable(own, options) ? [{ type: "reasoning", text: wellFormed(block.text), ...providerOptions }] : [];
      case "tool_call":
        return [
          {
            type: "tool-call",
            toolCallId: wireIds.get(block) ?? block.callId,
            toolName: tools.of(block.name),
            input: inputOf(block),
            ...providerOptions,
          },
        ];
      default:
        // No provider takes media back from its model, so they are told of.
        return [mediaPart(block, "none")];
    }
  });
}

/** Providers take an object and nothing else; what the model wrote instead is kept as far as JSON can carry it. */
function inputOf(call: ToolCallContent): unknown {
  if (isPlainObject(call.arguments)) return wellFormedJson(call.arguments);
  if (call.arguments !== undefined) return { value: wellFormedJson(call.arguments) };
  const text = argumentsText(call).trim();
  return text === "" || text === "{}" ? {} : (exactInput(text) ?? { invalid_arguments: wellFormed(text) });
}

/** Restored arguments with numbers that JavaScript rounds: their digits go out as text, where the engine tells them. */
function exactInput(text: string): unknown {
  try {
    const value: unknown = JSON.parse(text, (_key, part: unknown, context?: { source?: string }) => {
      const written = context?.source ?? "";
      return typeof part === "number" && /^-?\d{16,}$/.test(written) && written !== String(part) ? written : part;
    });
    return isPlainObject(value) && !findJsonFault(value) ? wellFormedJson(value) : undefined;
  } catch {
    return undefined;
  }
}

function outputOf(result: ToolResultContent | undefined): LanguageModelV4ToolResultOutput {
  if (!result) return { type: "error-text", value: "no result was recorded for this call" };
  const { output, isError } = result;
  if (isError !== true) {
    if (output === undefined || output === null) return { type: "text", value: "" };
    if (typeof output === "string") return { type: "text", value: wellFormed(output) };
    return { type: "json", value: jsonOf(output) };
  }
  if (output === undefined || output === null || output === "") return { type: "error-text", value: "the call failed" };
  if (typeof output === "string") return { type: "error-text", value: wellFormed(output) };
  return { type: "error-json", value: jsonOf(output) };
}

function jsonOf(output: unknown): JSONValue {
  // What the log holds is JSON.
  return wellFormedJson(output) as JSONValue;
}
