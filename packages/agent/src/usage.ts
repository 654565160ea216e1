import type { LanguageModelV4Usage } from "@ai-sdk/provider";
import type { Usage } from "@orcha/contract";

/** Reads what a call cost; nothing where the provider doesn't tell both totals. */
export function usageOf(usage: Partial<LanguageModelV4Usage> | undefined): Usage | undefined {
  const { inputTokens, outputTokens } = usage ?? {};
  const [input, output] = [count(inputTokens?.total), count(outputTokens?.total)];
  if (input === undefined || output === undefined) return undefined;
  return {
    inputTokens: input,
    outputTokens: output,
    reasoningTokens: count(outputTokens?.reasoning) ?? null,
    cacheReadTokens: count(inputTokens?.cacheRead) ?? 0,
    cacheWriteTokens: count(inputTokens?.cacheWrite) ?? 0,
  };
}

/** Some servers answer null, or nothing at all, whatever the types say. */
function count(tokens: number | null | undefined): number | undefined {
  return typeof tokens === "number" && Number.isFinite(tokens) && tokens >= 0 ? tokens : undefined;
}
