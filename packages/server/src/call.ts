import { OrchaError, type Agent, type Agents } from "@orcha/contract";
import type { Principal } from "./auth.ts";
import type { Author } from "./batch.ts";
import type { SessionRef } from "./store/store.ts";
import type { Surroundings } from "./surroundings.ts";

/** Who calls, and how the call may be repeated or refused. */
export interface Call {
  principal: Principal;
  /** Made once per call by the client; the same for all its tries. */
  idempotencyKey?: string;
  /** The sequence that the session must have. */
  ifSequence?: number;
}

/** Finds an agent. Throws `agent_not_found`. */
export function agentOf(agents: Agents, key: string): Agent {
  const agent = Object.hasOwn(agents, key) ? agents[key] : undefined;
  if (agent) return agent;
  throw agentNotFound(key);
}

export function agentNotFound(key: string): OrchaError {
  return new OrchaError("agent_not_found", `no agent ${JSON.stringify(key.slice(0, 80))}`);
}

/** The full name of the session that a call is about. */
export function refOf(call: Call, input: { agent: string; sessionId: string }): SessionRef {
  return { tenant: call.principal.tenant, agent: input.agent, sessionId: input.sessionId };
}

/** The same words for a session that is unknown, another agent's, or another tenant's. */
export function sessionNotFound(sessionId: string): OrchaError {
  return new OrchaError("session_not_found", `no session ${JSON.stringify(sessionId)}`);
}

/** Who writes in a call, and when. */
export function authorOf({ principal }: Call, surroundings: Surroundings): Author {
  return { now: surroundings.now(), ...(principal.subject === undefined ? {} : { actor: principal.subject }) };
}
