import type { Turn } from "../workload.ts";

/** An entry of the floor's log, and of its history: the two are the same. */
export type FloorItem = { id: string; kind: string; ts: number } & Record<string, unknown>;

/** How many items four turns make. */
export const itemsPerCycle = 10;

/** Says a turn as plain items: one for each message, call and result. */
export function itemsOf(session: string, turn: Turn): FloorItem[] {
  const { number, at, question, tool, answer, model, usage } = turn;
  const idOf = (kind: string): string => `${session}-${number}-${kind}`;
  const items: FloorItem[] = [{ id: idOf("u"), kind: "user", text: question, ts: at }];
  if (tool) {
    const { callId, name, arguments: args, result } = tool;
    items.push({ id: idOf("c"), kind: "tool_call", callId, name, args, ts: at + 1000 });
    items.push({ id: idOf("r"), kind: "tool_result", callId, name, result, ts: at + 2000 });
  }
  const totalTokens = usage.inputTokens + usage.outputTokens;
  items.push({ id: idOf("a"), kind: "assistant", text: answer, usage: { ...usage, totalTokens }, model, ts: at + 3000 });
  return items;
}
