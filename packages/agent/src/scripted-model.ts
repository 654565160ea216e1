import { APICallError, type LanguageModelV4, type LanguageModelV4CallOptions, type LanguageModelV4StreamPart } from "@ai-sdk/provider";
import type { Usage } from "@orcha/contract";
import { pause } from "./waiting.ts";

/** A request as the model got it. */
export type ScriptRequest = LanguageModelV4CallOptions;

/** A call that the scripted model makes. */
export interface ScriptToolCall {
  name: string;
  /** A value, or the exact text that the model writes; default `{}`. */
  arguments?: Record<string, unknown> | string;
  /** Default `call_1`, `call_2`… over the model's life. */
  callId?: string;
}

/** A failure of the scripted provider. */
export interface ScriptError {
  message: string;
  /** Default false. */
  retryable?: boolean;
  statusCode?: number;
  /** Headers of the failed answer, such as `retry-after-ms`. */
  headers?: Record<string, string>;
}

/** One reply of the script. Everything that it holds comes in this order: reasoning, text, calls, error. */
export interface ScriptReply {
  reasoning?: string;
  text?: string;
  toolCalls?: readonly ScriptToolCall[];
  /** Fails the reply: before its first part where it holds nothing else, else in the midst of it. */
  error?: ScriptError;
  /** Milliseconds before the first part, and between chunks of text; default 0. */
  delayMs?: number;
  /** Characters of text in a chunk; default 16. */
  chunkSize?: number;
  /** What the reply says that it cost; default: it doesn't say. */
  usage?: Partial<Usage>;
  /** Default "tool-calls" where there are calls, else "stop". */
  finishReason?: "stop" | "length" | "content-filter" | "tool-calls" | "error" | "other";
}

/** Makes a reply of what the model is asked. */
export type ScriptFunction = (request: ScriptRequest) => ScriptReply | Promise<ScriptReply>;

/** A reply, or a function that makes one. */
export type ScriptEntry = ScriptReply | ScriptFunction;

/** A model that says what its script says, and keeps what it was asked. */
export interface ScriptedModel extends LanguageModelV4 {
  readonly requests: readonly ScriptRequest[];
}

/**
 * Makes a model for tests and demos: each request takes the next entry of the script, and a request too many fails.
 * A function in place of the list answers every request.
 */
export function scriptedModel(
  script: readonly ScriptEntry[] | ScriptFunction,
  { provider = "scripted", modelId = "script" }: { provider?: string; modelId?: string } = {},
): ScriptedModel {
  const requests: ScriptRequest[] = [];
  let calls = 0;

  async function replyTo(request: ScriptRequest): Promise<ScriptReply> {
    requests.push(request);
    const entry = typeof script === "function" ? script : script[requests.length - 1];
    if (entry === undefined) throw new Error(`the script has ${script.length} replies, and this is request ${requests.length}`);
    const reply = typeof entry === "function" ? await entry(request) : entry;
    await pause(reply.delayMs ?? 0, request.abortSignal ?? new AbortController().signal);
    request.abortSignal?.throwIfAborted();
    if (reply.error && reply.text === undefined && reply.reasoning === undefined && !reply.toolCalls) throw failureOf(reply.error);
    return reply;
  }

  async function* parts(reply: ScriptReply, signal: AbortSignal): AsyncGenerator<LanguageModelV4StreamPart> {
    yield { type: "stream-start", warnings: [] };
    yield { type: "response-metadata", id: `response_${requests.length}`, modelId };
    for (const type of ["reasoning", "text"] as const) {
      const text = reply[type];
      if (text === undefined) continue;
      yield { type: `${type}-start`, id: type };
      for (const [index, delta] of chunks(text, reply.chunkSize ?? 16).entries()) {
        if (index > 0) await pause(reply.delayMs ?? 0, signal);
        signal.throwIfAborted();
        yield { type: `${type}-delta`, id: type, delta };
      }
      if (!reply.error) yield { type: `${type}-end`, id: type };
    }
    for (const { name, arguments: given = {}, callId } of reply.toolCalls ?? []) {
      calls += 1;
      const input = typeof given === "string" ? given : JSON.stringify(given);
      yield { type: "tool-call", toolCallId: callId ?? `call_${calls}`, toolName: name, input };
    }
    if (reply.error) throw failureOf(reply.error);
    yield { type: "finish", usage: usageOf(reply.usage), finishReason: { unified: finishOf(reply), raw: undefined } };
  }

  return {
    specificationVersion: "v4",
    provider,
    modelId,
    supportedUrls: { "*/*": [/^https?:/] },
    requests,
    doGenerate: () => Promise.reject(new Error("a scripted model only streams")),
    async doStream(request) {
      const reply = await replyTo(request);
      return { stream: streamOf(parts(reply, request.abortSignal ?? new AbortController().signal)) };
    },
  };
}

/** `ReadableStream.from` is missing in browsers. */
function streamOf<T>(values: AsyncGenerator<T>): ReadableStream<T> {
  return new ReadableStream<T>(
    {
      async pull(controller) {
        const next = await values.next();
        if (next.done) controller.close();
        else controller.enqueue(next.value);
      },
      async cancel() {
        await values.return(undefined);
      },
    },
    { highWaterMark: 0 },
  );
}

function chunks(text: string, size: number): string[] {
  if (!(size >= 1)) throw new RangeError(`chunkSize must be 1 or more, not ${size}`);
  const pieces: string[] = [];
  for (let start = 0; start < text.length; start += size) pieces.push(text.slice(start, start + size));
  return pieces;
}

function finishOf({ finishReason, toolCalls = [] }: ScriptReply): NonNullable<ScriptReply["finishReason"]> {
  return finishReason ?? (toolCalls.length > 0 ? "tool-calls" : "stop");
}

function usageOf({ inputTokens, outputTokens, reasoningTokens, cacheReadTokens, cacheWriteTokens }: Partial<Usage> = {}) {
  return {
    inputTokens: { total: inputTokens, noCache: undefined, cacheRead: cacheReadTokens, cacheWrite: cacheWriteTokens },
    outputTokens: { total: outputTokens, text: undefined, reasoning: reasoningTokens ?? undefined },
  };
}

function failureOf({ message, retryable = false, statusCode, headers }: ScriptError): APICallError {
  return new APICallError({
    message,
    url: "scripted:",
    requestBodyValues: {},
    isRetryable: retryable,
    ...(statusCode === undefined ? {} : { statusCode }),
    ...(headers === undefined ? {} : { responseHeaders: headers }),
  });
}
