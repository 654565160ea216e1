import type { ScriptReply, ScriptRequest } from "@orcha/agent/testing";
import type { HistoryItem } from "@orcha/client";

/** What the model of the journey says: two lookups, a delegation and an approval at once, then the end. */
export function brain({ prompt }: ScriptRequest): ScriptReply {
  if (prompt.some(({ role }) => role === "tool")) return { text: "Both are on their way, and refunded." };
  return {
    toolCalls: [
      { callId: "call_a", name: "lookup_order", arguments: { orderId: "A-1" } },
      { callId: "call_b", name: "lookup_order", arguments: { orderId: "B-2" } },
      { callId: "call_sub", name: "run_agent", arguments: { agent: "researcher", input: "Who carries them?" } },
      { callId: "call_ask", name: "request_human_approval", arguments: { amount: 750, currency: "USD" } },
    ],
  };
}

/** The subagent of the journey. */
export function research(): ScriptReply {
  return { text: "The carrier is on strike." };
}

/** A history but for what differs from one run to the next: ids of sessions, and times. */
export function shapeOf(items: readonly HistoryItem[]): unknown[] {
  return items
    .filter(({ type }) => type !== "evaluation")
    .map((item) => {
      const { createdAt: _created, ...rest } = item;
      const shape: Record<string, unknown> = { ...rest };
      for (const key of ["updatedAt", "durationMs", "childSessionId", "expiresAt", "usage"]) delete shape[key];
      return shape;
    });
}
