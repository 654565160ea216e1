import type { AgentTypes } from "@orcha/contract";
import type { AgentClient } from "../agent-client.ts";

/** A key of TanStack Query. */
export type OrchaKey = readonly ["orcha", agent: string, kind: "history" | "sessions", ...rest: unknown[]];

/** The key of one session's history. */
export function historyKey<T extends AgentTypes>({ agent }: AgentClient<T>, sessionId: string): OrchaKey {
  return ["orcha", agent, "history", sessionId];
}

/** The key that all lists of an agent's sessions begin with: what is invalidated after a write of the app's own. */
export function sessionsKey<T extends AgentTypes>({ agent }: AgentClient<T>): OrchaKey {
  return ["orcha", agent, "sessions"];
}
