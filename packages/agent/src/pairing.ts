import type { ToolCallContent, ToolResultContent, Turn } from "@orcha/contract";

/**
 * Finds the result of each call, by the rule of the log: a result belongs to the newest turn that used its id, the first
 * result of a call stands, and a result without a call is nobody's.
 */
export function pairResults(turns: readonly Turn[]): Map<ToolCallContent, ToolResultContent> {
  const results = new Map<ToolCallContent, ToolResultContent>();
  const newest = new Map<string, readonly ToolCallContent[]>();
  for (const turn of turns) {
    if (turn.role === "tool") {
      for (const block of turn.content) {
        const call = newest.get(block.callId)?.find((candidate) => !results.has(candidate));
        if (call) results.set(call, block);
      }
      continue;
    }
    const calls = callsOf(turn);
    for (const { callId } of calls) {
      newest.set(callId, calls.filter((call) => call.callId === callId));
    }
  }
  return results;
}

/** The calls that a turn makes, in its order. */
export function callsOf(turn: Turn): ToolCallContent[] {
  return turn.role === "assistant" ? turn.content.filter((block) => block.type === "tool_call") : [];
}
