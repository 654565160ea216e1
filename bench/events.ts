import type { EventInput } from "@orcha/contract";
import type { ToolUse, Turn } from "./workload.ts";

/** How many events four turns make, and how many history items. */
export const eventsPerCycle = 11;
export const itemsPerCycle = 9;

/** Says a turn as an agent would log it. */
export function eventsOf(turn: Turn): EventInput[] {
  return [questionOf(turn), ...(turn.tool ? toolEvents(turn.tool) : []), answerOf(turn)];
}

/** The person's half of a turn alone. */
export function questionOf({ question }: Turn): EventInput {
  return { type: "message.created", data: { role: "user", content: [{ type: "text", text: question }] } };
}

function answerOf({ answer, model, usage }: Turn): EventInput {
  return {
    type: "message.created",
    data: {
      role: "assistant",
      content: [{ type: "text", text: answer }],
      model,
      usage: { ...usage, reasoningTokens: null, cacheReadTokens: 0, cacheWriteTokens: 0 },
    },
  };
}

function toolEvents({ callId, name, arguments: input, result }: ToolUse): EventInput[] {
  return [
    { type: "action.requested", data: { callId, name, arguments: input } },
    { type: "action.completed", data: { callId, name, output: result } },
    { type: "message.created", data: { role: "tool", content: [{ callId, name, output: result }] } },
  ];
}
