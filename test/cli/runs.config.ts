import { scriptedModel, type ScriptReply, type ScriptRequest } from "@orcha/agent/testing";
import { defineConfig } from "@orcha/server/config";
import { agents } from "../runs/agents.ts";

// Agents that answer by what they are told, so that each test brings its own words.
const model = scriptedModel(reply);

export default defineConfig({
  agents,
  store: { file: "orcha.db" },
  port: 0,
  implementations: {
    supportAgent: {
      model,
      instructions: "You help.",
      actions: { lookup_order: ({ orderId }) => ({ status: orderId === "A-1" ? "lost" : "sent" }), refund: () => ({}) },
      skills: { incident_triage: "First, stay calm." },
      evaluations: { response_quality: async () => ({ groundedness: { score: 0.9, reasoning: "It says what it knows." } }) },
    },
    researcher: { model, instructions: "You research for {{ customer }}." },
    sorter: { model: scriptedModel(() => ({ text: '{"label":"bug"}' })), instructions: "You sort." },
  },
});

function reply({ prompt }: ScriptRequest): ScriptReply {
  const last = prompt.at(-1);
  const words = JSON.stringify(last?.content);
  const callId = `call_${prompt.length}`;
  if (last?.role === "tool") return { text: `So it is: ${/"(?:value|reason)":("[^"]*"|\{[^}]*\})/.exec(words)?.[1] ?? words}` };
  if (words.includes("refund")) {
    return { text: "One moment.", toolCalls: [{ name: "request_human_approval", callId, arguments: { amount: 750, currency: "USD" } }] };
  }
  if (words.includes("date")) return { toolCalls: [{ name: "pick_date", callId }] };
  if (words.includes("order")) return { text: "Let me look.", toolCalls: [{ name: "lookup_order", callId, arguments: { orderId: "A-1" } }] };
  if (words.includes("long")) return { text: "And on it goes. ".repeat(200), chunkSize: 8, delayMs: 25 };
  if (words.includes("break")) return { error: { message: "overloaded", statusCode: 400 } };
  if (words.includes("colour")) return { text: "Red: \u001b[31mred" };
  return { text: "Hello.\nHow are you?", chunkSize: 4, delayMs: 10 };
}
