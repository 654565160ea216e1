import { layOut } from "./table.ts";

/** Client, version, kB gzipped, kB minified. Measured once in November 2026, the same way, with Node 20. */
const measured: readonly (readonly [client: string, version: string, gzipped: string, minified: string])[] = [
  ["hono/client hc", "4.13.19", "2.0", "4.6"],
  ["ky", "1.14.3", "4.9", "13.7"],
  ["ky", "2.1.0", "8.7", "-"],
  ["@trpc/client, batch link", "11.25.2", "7.0", "20"],
  ["@trpc/client, with SSE link", "11.25.2", "9.9", "29"],
  ["@orpc/client, fetch link", "1.16.1", "8.1", "21.5"],
  ["@letta-ai/letta-client", "1.12.1", "14.7", "50"],
  ["openai", "6.49.0", "35.1", "146"],
  ["@google/genai", "2.32.0", "75.7", "405"],
  ["@anthropic-ai/sdk", "1.14.0", "85.3", "393"],
  ["@langchain/langgraph-sdk", "1.15.0", "119", "441"],
  ["ai, chat over its default transport", "6.0.326", "126", "588"],
  ["ai, chat over its default transport", "7.0.173", "54", "-"],
  ["@ai-sdk/react useChat", "3.0.328", "128", "595"],
  ["@mastra/client-js", "0.17.2", "34.1", "143"],
  ["@mastra/client-js", "1.47.0", "148", "-"],
  ["@assistant-ui/react", "0.15.22", "156", "526"],
];

/** What other clients take: figures that were taken once, and are not measured again. */
export function clientsOfOthers(): string {
  const table = layOut(["others, measured in November 2026", "version", "kB gzipped", "kB minified"], measured);
  return `${table}\nSome of them talk to models themselves, which Orcha's doesn't: sizes, not judgements.`;
}
