import type { SubagentEnd } from "@orcha/agent/loop";
import type { RunResult } from "@orcha/contract";

/** How a child's run ended, in the words of its parent's log. */
export function subagentEndOf(result: RunResult): SubagentEnd {
  const usage = result.usage ? { usage: result.usage } : {};
  switch (result.status) {
    case "completed":
      return { type: "completed", data: { status: result.status, output: result.output, ...usage } };
    case "failed":
      return { type: "failed", data: { status: result.status, error: result.error, ...usage } };
    case "waiting_for_client_action":
      return { type: "paused", data: { status: result.status, output: { pendingClientActions: result.pendingClientActions }, ...usage } };
    default:
      return { type: "paused", data: { status: result.status, ...(result.output === undefined ? {} : { output: result.output }), ...usage } };
  }
}
