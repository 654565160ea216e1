import { createOrcha } from "@orcha/client";
import type { Agent } from "@orcha/contract";
import type { agents } from "./agents.ts";

export const orcha = createOrcha<typeof agents>({ baseUrl: "http://localhost:3000" });

export type SupportAgent = (typeof agents)["supportAgent"] extends Agent<infer T> ? T : never;
