import { defineAgent, defineAgents } from "@orcha/contract";
import * as v from "valibot";

/** The agents that tests talk to. */
export const agents = defineAgents({
  supportAgent: defineAgent({
    actions: {
      lookup_order: { input: v.object({ orderId: v.string() }), output: v.object({ status: v.string() }) },
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
  researcher: defineAgent({
    metadata: v.object({ customerId: v.string(), tier: v.optional(v.picklist(["free", "paid"])) }),
  }),
});
