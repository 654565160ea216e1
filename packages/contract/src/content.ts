import * as v from "valibot";

/** Visible text. */
export interface TextContent {
  type: "text";
  text: string;
}

/** Media by reference: Orcha stores the URI and never opens it. */
export interface MediaContent {
  type: "image" | "video" | "audio" | "url";
  mimeType: string;
  fileUri: string;
}

/** A file by path: Orcha stores the path and never opens it. */
export interface FileContent {
  type: "file";
  filePath: string;
  mimeType: string;
}

/** What a person sees in a message. */
export type MessageContent = TextContent | MediaContent | FileContent;

/**
 * Data that only the provider and model it came from can read, such as a reasoning signature or an item id; it goes back
 * to them and to no other. `opaqueData` is what the provider's AI SDK package calls its metadata.
 */
export interface Replay {
  /** The provider's key in that metadata, such as "openai", "anthropic" or "google". */
  providerId?: string;
  opaqueData?: unknown;
}

/** Text of the model; what its provider needs back rides along. */
export interface AssistantTextContent extends TextContent {
  replay?: Replay;
}

/** The model's thinking; never part of the history that an app renders. */
export interface ReasoningContent {
  type: "reasoning";
  text: string;
  replay?: Replay;
}

/** A tool call as the model made it. */
export interface ToolCallContent {
  type: "tool_call";
  callId: string;
  name: string;
  arguments?: unknown;
  /** The exact text of the arguments, where JSON of `arguments` differs from it. */
  argumentsText?: string;
  replay?: Replay;
}

/** The answer to a tool call; without `output` the model saw no content at all. */
export interface ToolResultContent {
  callId: string;
  name?: string;
  output?: unknown;
  isError?: boolean;
}

/** What an assistant message holds in the log. */
export type AssistantContent = AssistantTextContent | MediaContent | FileContent | ReasoningContent | ToolCallContent;

export const callIdSchema = v.pipe(v.string(), v.minLength(1), v.maxLength(512));
export const textContentSchema = v.looseObject({ type: v.literal("text"), text: v.string() });
export const mediaContentSchema = v.looseObject({
  type: v.picklist(["image", "video", "audio", "url"]),
  mimeType: v.pipe(v.string(), v.minLength(1), v.maxLength(255)),
  fileUri: v.pipe(v.string(), v.minLength(1)),
});
export const fileContentSchema = v.looseObject({
  type: v.literal("file"),
  filePath: v.pipe(v.string(), v.minLength(1), v.maxLength(4096)),
  mimeType: v.pipe(v.string(), v.minLength(1), v.maxLength(255)),
});

const replaySchema = v.looseObject({ providerId: v.optional(v.string()), opaqueData: v.optional(v.unknown()) });
const reasoningContentSchema = v.looseObject({
  type: v.literal("reasoning"),
  text: v.string(),
  replay: v.optional(replaySchema),
});
const toolCallContentSchema = v.looseObject({
  type: v.literal("tool_call"),
  callId: callIdSchema,
  name: v.pipe(v.string(), v.minLength(1)),
  arguments: v.optional(v.unknown()),
  argumentsText: v.optional(v.string()),
  replay: v.optional(replaySchema),
});

export const messageContentSchema: v.GenericSchema<MessageContent> = v.variant("type", [
  textContentSchema,
  mediaContentSchema,
  fileContentSchema,
]);
export const assistantContentSchema: v.GenericSchema<AssistantContent> = v.variant("type", [
  textContentSchema,
  mediaContentSchema,
  fileContentSchema,
  reasoningContentSchema,
  toolCallContentSchema,
]);
export const toolResultContentSchema: v.GenericSchema<ToolResultContent> = v.looseObject({
  callId: callIdSchema,
  name: v.optional(v.string()),
  output: v.optional(v.unknown()),
  isError: v.optional(v.boolean()),
});

/** Tells whether a text takes more than `limit` bytes in UTF-8; a lone surrogate counts as the three of U+FFFD. */
export function exceedsBytes(text: string, limit: number): boolean {
  if (text.length * 3 <= limit) return false;
  if (text.length > limit) return true;
  let bytes = 0;
  for (const character of text) {
    const point = character.codePointAt(0) ?? 0;
    bytes += point < 0x80 ? 1 : point < 0x800 ? 2 : point < 0x10000 ? 3 : 4;
  }
  return bytes > limit;
}
