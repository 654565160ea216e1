import { createAnthropic } from "@ai-sdk/anthropic";
import { createGoogle } from "@ai-sdk/google";
import { createOpenAI } from "@ai-sdk/openai";
import { createOpenAICompatible } from "@ai-sdk/openai-compatible";
import type { LanguageModelV4 } from "@ai-sdk/provider";
import { LLMock, type ChatCompletionRequest } from "@copilotkit/aimock";

/** A key that nobody but its provider is to see. */
export const apiKey = "sk-test-0123456789abcdef";

/** A request as it went over the wire. */
export interface Sent {
  url: string;
  body: string;
}

/** A model server that knows what refunding takes, and the models of five APIs that lead to it. */
export interface ModelWorld {
  mock: LLMock;
  /** Bodies as their API has them, in order. */
  sent: Sent[];
  models: Readonly<Record<Api, (modelId?: string) => LanguageModelV4>>;
  /** What the server was asked, in one form for all APIs. */
  asked: () => ChatCompletionRequest[];
  clear: () => void;
  stop: () => Promise<void>;
}

export const apis = ["OpenAI Responses", "OpenAI Chat", "Anthropic", "Google", "OpenAI-compatible"] as const;
export type Api = (typeof apis)[number];

const calls = [
  { name: "lookup_order", arguments: '{"orderId":"A-1"}' },
  { name: "request_human_approval", arguments: '{"amount":750,"currency":"USD"}' },
];

/** Starts the model server. */
export async function startModelWorld(): Promise<ModelWorld> {
  const mock = new LLMock({ port: 0, logLevel: "silent" });
  const lastText = ({ messages }: ChatCompletionRequest): string => textOf(messages.at(-1)?.content);
  const isAfterTool = ({ messages }: ChatCompletionRequest): boolean => messages.at(-1)?.role === "tool";
  // What was said in vain stands before it, in the same message where the API has no two in a row.
  mock.on({ predicate: (request) => lastText(request).endsWith("Hello") }, { content: "Hello!" });
  mock.on({ predicate: (request) => isAfterTool(request) }, { content: "Refunded." });
  mock.on({ predicate: (request) => lastText(request).startsWith("Refund") }, { toolCalls: calls });
  mock.on(
    { predicate: (request) => lastText(request).startsWith("Think") },
    { reasoning: "Let me think.", reasoningSignature: "c2lnbmVk", redactedThinking: ["b3BhcXVl"], toolCalls: calls },
  );
  mock.on({ predicate: (request) => lastText(request) === "How much?" && JSON.stringify(request.messages).includes("lost") }, { content: "750 USD." });
  mock.on({ userMessage: "Busy" }, { error: { message: `slow down, ${apiKey}`, type: "rate_limit_error" }, status: 429 });
  mock.on({ userMessage: "Broken" }, { error: { message: "the model is on fire", type: "server_error" }, status: 500 });
  mock.on({ userMessage: "Key" }, { error: { message: `Incorrect API key provided: ${apiKey}. See https://example.com/keys?key=${apiKey}` }, status: 401 });
  const url = await mock.start();

  const sent: Sent[] = [];
  const fetch: typeof globalThis.fetch = async (input, init) => {
    sent.push({ url: input instanceof Request ? input.url : String(input), body: typeof init?.body === "string" ? init.body : "" });
    return globalThis.fetch(input, init);
  };
  const given = { baseURL: `${url}/v1`, apiKey, fetch };
  return {
    mock,
    sent,
    models: {
      "OpenAI Responses": (modelId = "gpt-5-mini") => createOpenAI(given)(modelId),
      "OpenAI Chat": (modelId = "gpt-5-mini") => createOpenAI(given).chat(modelId),
      Anthropic: (modelId = "claude-haiku-4-5") => createAnthropic(given)(modelId),
      Google: (modelId = "gemini-2.5-flash") => createGoogle({ ...given, baseURL: `${url}/v1beta` })(modelId),
      "OpenAI-compatible": (modelId = "llama") => createOpenAICompatible({ name: "local", ...given, includeUsage: true })(modelId),
    },
    asked: () => mock.getRequests().flatMap(({ body }) => (body && "messages" in body ? [body as ChatCompletionRequest] : [])),
    clear: () => {
      mock.clearRequests();
      sent.length = 0;
    },
    stop: () => mock.stop(),
  };
}

function textOf(content: ChatCompletionRequest["messages"][number]["content"] | undefined): string {
  if (typeof content === "string") return content;
  return (content ?? []).map(({ text = "" }) => text).join("");
}
