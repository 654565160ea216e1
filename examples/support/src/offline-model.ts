import { scriptedModel, type ScriptedModel, type ScriptReply, type ScriptRequest } from "@orcha/agent/testing";
import { approvalFrom } from "./orders.ts";

type Prompt = ScriptRequest["prompt"];
type ToolResult = Extract<Extract<Prompt[number], { role: "tool" }>["content"][number], { type: "tool-result" }>;

/** A model that needs no network and no key: it knows the shop's few questions, and reads the conversation to answer them. */
export function offlineModel(): ScriptedModel {
  const pace = { delayMs: 15, chunkSize: 6 };
  return scriptedModel(({ prompt }) => ({ ...pace, ...reply(prompt) }), { provider: "offline", modelId: "script" });
}

function reply(prompt: Prompt): ScriptReply {
  const last = prompt.at(-1);
  if (last?.role === "tool") {
    const result = resultsOf([last]).at(-1);
    if (result) return afterResult(result, prompt);
  }
  return afterMessage(last?.role === "user" ? textOf(last) : "", prompt);
}

/** What the customer says decides what is looked up, asked or paid. */
function afterMessage(text: string, prompt: Prompt): ScriptReply {
  const named = /\b[A-Z]-\d+\b/i.exec(text)?.[0];
  if (named !== undefined) return { text: "Let me look.", toolCalls: [{ name: "lookup_order", arguments: { orderId: named.toUpperCase() } }] };
  const order = lostOrder(prompt);
  if (order && /\b(yes|please|refund|money|do)\b/i.test(text)) {
    const { orderId, total, currency } = order;
    if (total <= approvalFrom) return { toolCalls: [{ name: "refund_order", arguments: { orderId } }] };
    return {
      text: "A colleague has to approve that amount. One moment.",
      toolCalls: [{ name: "request_human_approval", arguments: { amount: total, currency } }],
    };
  }
  if (/order|package|parcel|refund/i.test(text)) return { text: "Which order is it? Its number is like A-1042." };
  return { text: "Hello! I am the shop's assistant, and only scripted. Ask me about order A-1042, A-1043 or A-1044." };
}

function afterResult({ toolName, output }: ToolResult, prompt: Prompt): ScriptReply {
  const value = output.type === "json" ? fields(output.value) : undefined;
  if (!value) return { text: "That did not work. Is the order's number right? It is like A-1042." };
  switch (toolName) {
    case "lookup_order": {
      const { status, total, currency } = value;
      if (!String(status).startsWith("lost")) return { text: `It is ${String(status)}.` };
      return { text: `I am sorry: it was ${String(status)}. Shall I refund the ${String(total)} ${String(currency)}?` };
    }
    case "request_human_approval": {
      const orderId = lostOrder(prompt)?.orderId;
      if (value["approved"] === true && orderId !== undefined) return { toolCalls: [{ name: "refund_order", arguments: { orderId } }] };
      return { text: "My colleague wants to look at this first and will write to you today." };
    }
    default:
      return { text: `Done: ${String(value["refunded"])} ${String(value["currency"])} are on their way back to you.` };
  }
}

/** The last order that was looked up and found to be lost. */
function lostOrder(prompt: Prompt): { orderId: string; total: number; currency: string } | undefined {
  const found = resultsOf(prompt).findLast(({ toolName }) => toolName === "lookup_order");
  const value = found?.output.type === "json" ? fields(found.output.value) : undefined;
  const orderId = found && argumentsOf(prompt, found.toolCallId)?.["orderId"];
  if (!value || typeof orderId !== "string" || !String(value["status"]).startsWith("lost")) return undefined;
  return { orderId, total: Number(value["total"]), currency: String(value["currency"]) };
}

function resultsOf(prompt: Prompt): ToolResult[] {
  return prompt.flatMap((message) => (message.role === "tool" ? message.content.filter((part) => part.type === "tool-result") : []));
}

function argumentsOf(prompt: Prompt, callId: string): Record<string, unknown> | undefined {
  const parts = prompt.flatMap((message) => (message.role === "assistant" ? message.content : []));
  const call = parts.find((part) => part.type === "tool-call" && part.toolCallId === callId);
  return call?.type === "tool-call" ? fields(call.input) : undefined;
}

function textOf(message: Extract<Prompt[number], { role: "user" }>): string {
  return message.content.map((part) => (part.type === "text" ? part.text : "")).join(" ");
}

function fields(value: unknown): Record<string, unknown> | undefined {
  return typeof value === "object" && value !== null ? { ...value } : undefined;
}
