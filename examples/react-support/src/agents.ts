import { defineAgent, defineAgents } from "@orcha/contract";
import * as v from "valibot";

/** The agents of the example: the server runs them, and the app uses their types. */
export const agents = defineAgents({
  supportAgent: defineAgent({
    description: "Answers order questions, and refunds what got lost once a person has approved it",
    actions: {
      lookup_order: {
        description: "Finds an order and where it is",
        input: v.object({ orderId: v.string() }),
        output: v.object({ status: v.string(), total: v.number(), currency: v.string() }),
      },
    },
    clientActions: {
      request_human_approval: {
        description: "Asks a person to approve a refund",
        input: v.object({ orderId: v.string(), amount: v.number(), currency: v.string() }),
        output: v.object({ approved: v.boolean() }),
      },
    },
  }),
});
