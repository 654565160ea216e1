import { defineAgent, defineAgents } from "@orcha/contract";

export const agents = defineAgents({
  supportAgent: defineAgent({ description: "Answers order questions" }),
});
