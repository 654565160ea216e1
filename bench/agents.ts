import { defineAgent, defineAgents } from "@orcha/contract";

/** The agents that everything here is measured with. */
export const agents = defineAgents({ support: defineAgent({}) });
export const agent = "support";
