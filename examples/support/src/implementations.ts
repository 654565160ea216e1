import type { AgentImplementation, Implementations } from "@orcha/server";
import type { agents } from "./agents.ts";
import { approvalFrom, findOrder, refund } from "./orders.ts";

type Model = Exclude<AgentImplementation<never>["model"], undefined>;

/** How this server runs its agents. */
export function implementationsOn(model: Model): Implementations<typeof agents> {
  return {
    supportAgent: {
      model,
      instructions: [
        "You help the customers of a shop with their orders. Be brief and kind.",
        "Look an order up before you speak of it. A lost order may be refunded when the customer wants that.",
        `Above ${approvalFrom} USD, first call request_human_approval with the order's total; refund only what was approved.`,
      ].join("\n"),
      actions: {
        lookup_order: ({ orderId }) => findOrder(orderId),
        refund_order: ({ orderId }, { idempotencyKey }) => {
          const { total, currency } = refund(orderId, idempotencyKey);
          return { refunded: total, currency };
        },
      },
    },
  };
}
