import { scriptedModel, type ScriptReply, type ScriptRequest } from "@orcha/agent/testing";

/** A support agent's model for those who have no provider's key: it knows four situations, and needs no network. */
export const offlineModel = scriptedModel(({ prompt }) => ({ delayMs: 25, chunkSize: 4, ...replyTo(prompt) }));

type Prompt = ScriptRequest["prompt"];

function replyTo(prompt: Prompt): ScriptReply {
  const last = prompt.at(-1);
  if (last?.role === "tool") return afterTool(JSON.stringify(last.content));
  const text = last?.role === "user" ? last.content.map((part) => (part.type === "text" ? part.text : "")).join(" ") : "";
  const orderId = /[A-Z]-\d+/.exec(text)?.[0];
  if (orderId) return { text: "Let me look that up.", toolCalls: [{ name: "lookup_order", arguments: { orderId }, callId: callId(prompt) }] };
  if (/policy|explain|how/i.test(text)) return { text: policy };
  return { text: "I can help with orders. Which one is it? The number looks like A-1042." };
}

function afterTool(result: string): ScriptReply {
  if (result.includes("lost by the carrier")) {
    return {
      text: "I am sorry: the carrier lost that order. A colleague has to approve a refund of that amount. One moment, please.",
      toolCalls: [{ name: "request_human_approval", arguments: { orderId: "A-1042", amount: 750, currency: "USD" } }],
    };
  }
  if (/approved\\*":true/.test(result)) return { text: "Good news: the refund is approved. 750 USD will be on your account within three days." };
  if (result.includes("in transit")) return { text: "It is on its way, and should arrive tomorrow." };
  return { text: "My colleague wants to look at this in person first, and will write to you today." };
}

/** Unlike those of other turns. */
function callId(prompt: Prompt): string {
  return `call_lookup_${prompt.length}`;
}

const policy = [
  "Here is how refunds work.",
  "When a parcel is lost, we refund the whole amount, shipping included, and you don't have to send anything.",
  "When it arrives damaged, a photo is enough, and you choose between a refund and a replacement.",
  "Up to 100 USD I can refund at once; above that a colleague looks at it, which rarely takes more than a few minutes.",
  "The money goes back the way it came, and is there within three working days.",
].join(" ");
