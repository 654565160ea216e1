import { scriptedModel } from "@orcha/agent/testing";
import { defineAgent, defineAgents } from "@orcha/contract";
import { defineConfig } from "@orcha/server/config";
import * as v from "valibot";

// An agent whose question has expired before anybody can answer it.
const agents = defineAgents({
  supportAgent: defineAgent({ clientActions: { approve: { input: v.object({}), output: v.object({ approved: v.boolean() }), expiresInMs: 1 } } }),
});

export default defineConfig({
  agents,
  store: { file: "orcha.db" },
  implementations: {
    supportAgent: {
      instructions: "You ask.",
      model: scriptedModel(({ prompt }) => {
        const last = prompt.at(-1);
        return last?.role === "tool" ? { text: "Nobody was in time.", delayMs: 300 } : { toolCalls: [{ name: "approve" }] };
      }),
    },
  },
});
