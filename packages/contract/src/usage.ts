import * as v from "valibot";

/** Tokens that a model call cost. Unknown usage is absent, never 0. */
export interface Usage {
  inputTokens: number;
  outputTokens: number;
  /** Null where the provider doesn't tell. */
  reasoningTokens: number | null;
  cacheReadTokens: number;
  cacheWriteTokens: number;
}

const tokens = v.pipe(v.number(), v.minValue(0));

export const usageSchema: v.GenericSchema<Usage> = v.looseObject({
  inputTokens: tokens,
  outputTokens: tokens,
  reasoningTokens: v.nullable(tokens),
  cacheReadTokens: tokens,
  cacheWriteTokens: tokens,
});

/** Adds two usages; reasoning stays null only where neither side knows it. */
export function addUsage(left: Usage | undefined, right: Usage | undefined): Usage | undefined {
  if (!left || !right) return left ?? right;
  const unknown = left.reasoningTokens === null && right.reasoningTokens === null;
  return {
    inputTokens: left.inputTokens + right.inputTokens,
    outputTokens: left.outputTokens + right.outputTokens,
    reasoningTokens: unknown ? null : (left.reasoningTokens ?? 0) + (right.reasoningTokens ?? 0),
    cacheReadTokens: left.cacheReadTokens + right.cacheReadTokens,
    cacheWriteTokens: left.cacheWriteTokens + right.cacheWriteTokens,
  };
}
