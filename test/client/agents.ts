import { defineAgent, defineAgents } from "@orcha/contract";
import * as v from "valibot";

export const agents = defineAgents({
  supportAgent: defineAgent({
    description: "Answers order questions",
    metadata: v.object({ customerId: v.string(), tier: v.optional(v.picklist(["free", "paid"])) }),
    actions: {
      lookup_order: { input: v.object({ orderId: v.string() }), output: v.object({ status: v.string() }) },
      refund: { input: v.object({ orderId: v.string(), amount: v.number() }) },
    },
    clientActions: {
      request_human_approval: {
        input: v.object({ amount: v.number(), currency: v.string() }),
        output: v.object({ approved: v.boolean() }),
      },
    },
    skills: { incident_triage: { description: "Sorts incidents" } },
    evaluations: { response_quality: { metrics: { groundedness: { threshold: 0.8 } } } },
    subagents: ["researcher"],
  }),
  researcher: defineAgent({ description: "Reads" }),
});
