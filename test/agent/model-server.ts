import { LLMock, type ChatCompletionRequest } from "@copilotkit/aimock";

/** What the model server was asked, whatever the provider's API. */
export interface Asked {
  path: string;
  /** The request as the provider's API has it. */
  body: Record<string, unknown>;
}

/** A model server that answers as the seed's document says: it knows the weather and the user's name. */
export async function startModelServer(): Promise<{ url: string; asked: () => Asked[]; clear: () => void; stop: () => Promise<void>; mock: LLMock }> {
  const mock = new LLMock({ port: 0, logLevel: "silent" });
  const lastUser = ({ messages }: ChatCompletionRequest): string => textOf(messages.findLast(({ role }) => role === "user")?.content);
  const before = ({ messages }: ChatCompletionRequest): string => JSON.stringify(messages.slice(0, -1));
  const isAfterTool = ({ messages }: ChatCompletionRequest): boolean => messages.at(-1)?.role === "tool";
  mock.on({ predicate: (request) => isAfterTool(request) }, { content: "It is 22°C and sunny." });
  mock.on({ predicate: (request) => lastUser(request).includes("weather in Paris") }, { toolCalls: [{ name: "getWeather", arguments: '{"city":"Paris"}' }] });
  mock.on({ predicate: (request) => lastUser(request) === "Is that warm?" && before(request).includes("22°C, Sunny") }, { content: "Yes, 22°C is warm." });
  mock.on({ predicate: (request) => lastUser(request) === "What is my name?" && before(request).includes("Alice") }, { content: "Your name is Alice" });
  mock.on({ userMessage: "My name is Alice" }, { content: "Hello, Alice" });
  mock.on({ userMessage: "Hello" }, { content: "Hello!" });
  const url = await mock.start();
  return {
    url,
    mock,
    asked: () => mock.getRequests().map(({ path, body }) => ({ path, body: { ...body } })),
    clear: () => mock.clearRequests(),
    stop: () => mock.stop(),
  };
}

function textOf(content: ChatCompletionRequest["messages"][number]["content"] | undefined): string {
  if (typeof content === "string") return content;
  return (content ?? []).map(({ text = "" }) => text).join("");
}
