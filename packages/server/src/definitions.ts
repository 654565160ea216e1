import {
  canonicalJson,
  jsonSchemaOf,
  type AgentDefinition,
  type Agents,
  type ClientActionDefinition,
  type EvaluationDefinition,
  type SkillDefinition,
} from "@orcha/contract";
import type { Surroundings } from "./surroundings.ts";

/** Every agent of a server, with its schemas as JSON Schema. */
export interface Definitions {
  /** SHA-256 of `agents` as canonical JSON: equal definitions have equal versions. */
  version: string;
  agents: Record<string, DescribedAgent>;
}

/** An agent, with what goes in as `metadata`, and what comes out as `output`. */
export interface DescribedAgent {
  description?: string;
  metadata?: unknown;
  actions: Record<string, DescribedAction>;
  clientActions: Record<string, DescribedAction>;
  skills: Readonly<Record<string, SkillDefinition>>;
  evaluations: Readonly<Record<string, EvaluationDefinition>>;
  subagents: readonly string[];
  output?: unknown;
}

/** An action, with what goes in as `input`, and what comes out as `output`. */
export interface DescribedAction {
  description?: string;
  input: unknown;
  output?: unknown;
  expiresInMs?: number;
  onExpire?: "deny" | "fail";
}

/** Describes a project's agents. */
export async function describeAgents(agents: Agents, digest: Surroundings["digest"]): Promise<Definitions> {
  const described = Object.fromEntries(
    Object.entries(agents).map(([key, { definition }]) => [key, describeAgent(key, definition)]),
  );
  return { version: await digest(canonicalJson(described)), agents: described };
}

function describeAgent(key: string, definition: AgentDefinition): DescribedAgent {
  const { description, metadata, actions, clientActions, skills, evaluations, subagents, output } = definition;
  return {
    ...(description === undefined ? {} : { description }),
    ...(metadata === undefined ? {} : { metadata: jsonSchemaOf(metadata, [key, "metadata"]) }),
    actions: describeActions(actions, [key, "actions"]),
    clientActions: describeActions(clientActions, [key, "clientActions"]),
    skills: skills ?? {},
    evaluations: evaluations ?? {},
    subagents: subagents ?? [],
    ...(output === undefined ? {} : { output: jsonSchemaOf(output, [key, "output"], "output") }),
  };
}

function describeActions(
  actions: Readonly<Record<string, ClientActionDefinition>> = {},
  path: readonly string[],
): Record<string, DescribedAction> {
  return Object.fromEntries(
    Object.entries(actions).map(([name, { description, input, output, expiresInMs, onExpire }]) => [
      name,
      {
        ...(description === undefined ? {} : { description }),
        input: jsonSchemaOf(input, [...path, name, "input"]),
        ...(output === undefined ? {} : { output: jsonSchemaOf(output, [...path, name, "output"], "output") }),
        ...(expiresInMs === undefined ? {} : { expiresInMs }),
        ...(onExpire === undefined ? {} : { onExpire }),
      },
    ]),
  );
}
