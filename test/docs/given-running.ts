import { scriptedModel, type ScriptReply, type ScriptRequest } from "@orcha/agent/testing";
import { createOrcha } from "@orcha/client";
import { createApp, memoryStore } from "@orcha/server";
import { agents } from "../runs/agents.ts";

// What the pages on running agents take for granted: a server that runs them, its client, and a session with an answer.
const app = createApp({
  agents,
  store: memoryStore(),
  implementations: {
    supportAgent: {
      model: scriptedModel(reply),
      instructions: "You help.",
      actions: { lookup_order: () => ({ status: "lost" }), refund: ({ amount }) => ({ refunded: amount }) },
      skills: { incident_triage: "First, stay calm." },
      evaluations: { response_quality: async () => ({ groundedness: { score: 0.9, reasoning: "It says what it knows." } }) },
    },
    researcher: { model: scriptedModel(() => ({ text: "It is in Berlin." })), instructions: "You research." },
    sorter: { model: scriptedModel(() => ({ text: '{"label":"bug"}' })), instructions: "You sort." },
  },
});

export const orcha = createOrcha<typeof agents>({
  baseUrl: "http://orcha.test",
  fetch: async (input, init) => app.fetch(new Request(input, init)),
});

const opened = orcha.supportAgent.run("Hello");
await opened.result;

export const { sessionId } = opened;

function reply({ prompt }: ScriptRequest): ScriptReply {
  const last = prompt.at(-1);
  const words = JSON.stringify(last?.content);
  const calls = (...names: string[]): ScriptReply => ({
    text: "One moment.",
    toolCalls: names.map((name, index) => ({ name, callId: `call_${prompt.length}_${index}`, arguments: argumentsOf[name] ?? {} })),
  });
  if (last?.role === "tool") return { text: words.includes("lost") ? "It is lost." : "Done." };
  if (words.includes("date")) return calls("request_human_approval", "pick_date");
  if (words.includes("refund")) return calls("request_human_approval");
  if (words.includes("warehouse")) return calls("run_agent");
  if (words.includes("outage")) return calls("load_skill");
  if (words.includes("Where is")) return calls("lookup_order");
  if (words.includes("story")) return { text: "Once upon a time. ".repeat(100), delayMs: 10 };
  return { text: "Hello. How can I help?" };
}

const argumentsOf: Record<string, Record<string, unknown>> = {
  request_human_approval: { amount: 750, currency: "USD" },
  lookup_order: { orderId: "A-1042" },
  run_agent: { agent: "researcher", input: "Find the warehouse" },
  load_skill: { name: "incident_triage" },
};
