import { defineAgent, defineAgents } from "@orcha/contract";
import * as v from "valibot";

/** The agents that run in these tests. */
export const agents = defineAgents({
  supportAgent: defineAgent({
    actions: {
      lookup_order: { input: v.object({ orderId: v.string() }), output: v.object({ status: v.string() }) },
      refund: { input: v.object({ amount: v.number() }) },
    },
    clientActions: {
      request_human_approval: {
        input: v.object({ amount: v.number(), currency: v.string() }),
        output: v.object({ approved: v.boolean() }),
        expiresInMs: 60_000,
      },
      pick_date: { input: v.object({}), expiresInMs: 60_000, onExpire: "fail" },
    },
    skills: { incident_triage: { description: "Sorts incidents", triggers: ["an outage"] } },
    evaluations: { response_quality: { metrics: { groundedness: { threshold: 0.8 } } } },
    subagents: ["researcher"],
  }),
  researcher: defineAgent({ clientActions: { ask_expert: { input: v.object({ question: v.string() }) } } }),
  sorter: defineAgent({ output: v.object({ label: v.picklist(["bug", "question"]) }) }),
  elsewhere: defineAgent({ clientActions: { approve: { input: v.object({}) } } }),
});
