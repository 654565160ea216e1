import { createOrcha, isOrchaError, type AgentClient, type AnyAgentTypes } from "@orcha/client";
import { isPlainObject } from "@orcha/contract";
import { CommandFailure } from "./failure.ts";
import { authorization } from "./remote.ts";
import type { Target } from "./target.ts";

/** The client of a target's agent: the same over a socket and in this process. */
export function clientOf({ agent, server: { base, token }, answer }: Target): AgentClient {
  const orcha = createOrcha<Readonly<Record<string, AnyAgentTypes>>>({
    baseUrl: base,
    fetch: async (input, init) => answer(new Request(input, init)),
    ...(token === undefined ? {} : { token }),
  });
  const client = orcha[agent];
  if (!client) throw new CommandFailure(`${JSON.stringify(agent)} can't be an agent's name`);
  return client;
}

/** A client action as its server describes it. */
export interface ClientActionDescription {
  description?: string;
  /** JSON Schema. */
  output?: Record<string, unknown>;
}

/** What a command needs to know of an agent beforehand. */
export interface AgentDescription {
  clientActions: Readonly<Record<string, ClientActionDescription>>;
  hasStructuredOutput: boolean;
}

/** Asks what an agent is; where the server doesn't say, nothing is known of it. */
export async function describeAgent({ agent, server, answer }: Target): Promise<AgentDescription> {
  const response = await answer(new Request(`${server.base}/api/agents`, { headers: authorization(server), redirect: "manual" }));
  const all: unknown = response.ok ? await response.json().catch(() => undefined) : undefined;
  const described = field(field(all, "agents"), agent);
  const clientActions = field(described, "clientActions");
  return {
    clientActions: isPlainObject(clientActions)
      ? Object.fromEntries(Object.entries(clientActions).map(([name, action]) => [name, readClientAction(action)]))
      : {},
    hasStructuredOutput: field(described, "output") !== undefined,
  };
}

function readClientAction(action: unknown): ClientActionDescription {
  const description = field(action, "description");
  const output = field(action, "output");
  return { ...(typeof description === "string" ? { description } : {}), ...(isPlainObject(output) ? { output } : {}) };
}

function field(value: unknown, name: string): unknown {
  return isPlainObject(value) && Object.hasOwn(value, name) ? value[name] : undefined;
}

/** What a person is told of a failed call: the way to the server says more of itself than the client, which hides it. */
export function toCommandFailure(error: unknown): unknown {
  return isOrchaError(error) && error.code === "network" && error.cause instanceof CommandFailure ? error.cause : error;
}
