import type { StandardSchemaV1 } from "@standard-schema/spec";
import type { Metadata } from "./event.ts";
import { formatPath, isPlainObject, type Path } from "./json.ts";
import { jsonSchemaOf, type Schema } from "./json-schema.ts";

/**
 * The name of what the app's definitions don't list: servers are upgraded before apps, so any name may arrive.
 * An enum of its own keeps narrowing by name exact, which a plain `string` arm would destroy. It has no value at run time.
 */
export declare enum Unlisted {
  Name = "",
}

/** Something the server does for the model. */
export interface ActionDefinition {
  description?: string;
  input: Schema;
  output?: Schema;
}

/** Something a person or an app does for the model. */
export interface ClientActionDefinition extends ActionDefinition {
  /** Milliseconds until `onExpire` applies; without it a call waits for ever. */
  expiresInMs?: number;
  onExpire?: "deny" | "fail";
}

/** Instructions that the model loads when it needs them. */
export interface SkillDefinition {
  description: string;
  triggers?: readonly string[];
}

/** A judgement of finished runs; each metric passes at its threshold, from 0 to 1. */
export interface EvaluationDefinition {
  description?: string;
  metrics: Readonly<Record<string, { description?: string; threshold: number }>>;
}

/** What an agent is, for its server, its clients and its tests. */
export interface AgentDefinition {
  description?: string;
  /** An object of scalars; sessions are created with it. */
  metadata?: Schema;
  actions?: Readonly<Record<string, ActionDefinition>>;
  clientActions?: Readonly<Record<string, ClientActionDefinition>>;
  skills?: Readonly<Record<string, SkillDefinition>>;
  evaluations?: Readonly<Record<string, EvaluationDefinition>>;
  /** Keys of agents that this one may delegate to. */
  subagents?: readonly string[];
  /** The structured final answer. */
  output?: Schema;
}

/** The types of one action. */
export interface ActionTypes<Arguments = unknown, Output = unknown> {
  arguments: Arguments;
  output: Output;
}

/** The arguments of one action. Looked up rather than inferred, which costs the compiler several times as much. */
export type ArgumentsOf<A> = A["arguments" & keyof A];

/** Everything about an agent that a client's types depend on, as a plain interface. */
export interface AgentTypes {
  metadata: object;
  actions: object;
  clientActions: object;
  skills: string;
  evaluations: string;
  subagents: string;
  /** The structured answer; text where there is none. */
  output: unknown;
}

/** Any agent's types, for code that renders whatever comes: every agent's items and snapshots fit. */
export interface AnyAgentTypes extends AgentTypes {
  actions: Record<string, ActionTypes>;
  clientActions: Record<string, ActionTypes>;
}

type InputOf<S> = S extends StandardSchemaV1 ? StandardSchemaV1.InferInput<S> : unknown;
type OutputOf<S> = S extends StandardSchemaV1 ? StandardSchemaV1.InferOutput<S> : unknown;
type MetadataOf<S> = S extends StandardSchemaV1 ? (InputOf<S> extends infer M extends object ? M : never) : Metadata;
type KeysOf<R> = R extends object ? keyof R & string : never;
type ActionsOf<R> = R extends Readonly<Record<string, ActionDefinition>> ? { [Name in keyof R & string]: ActionTypesOf<R[Name]> } : object;

/** The types of one definition. An interface, whose fields the compiler works out only where they are read. */
export interface ActionTypesOf<A extends ActionDefinition> extends ActionTypes {
  arguments: StandardSchemaV1.InferInput<A["input"]>;
  output: A extends { output: infer O } ? OutputOf<O> : unknown;
}

/** The plain types that a definition stands for. */
export interface AgentTypesOf<D extends AgentDefinition> extends AgentTypes {
  metadata: MetadataOf<D["metadata"]>;
  actions: ActionsOf<D["actions"]>;
  clientActions: ActionsOf<D["clientActions"]>;
  skills: KeysOf<D["skills"]>;
  evaluations: KeysOf<D["evaluations"]>;
  subagents: D["subagents"] extends readonly (infer K extends string)[] ? K : never;
  output: D["output"] extends StandardSchemaV1 ? OutputOf<D["output"]> : string;
}

/** A defined agent; `~types` exists for the compiler only. */
export interface Agent<T extends AgentTypes = AgentTypes> {
  readonly definition: AgentDefinition;
  readonly "~types"?: T;
}

/** The agents of a project, by key. */
export type Agents = Readonly<Record<string, Agent>>;

/** Defines one agent; `defineAgents` checks it. */
export function defineAgent<const D extends AgentDefinition>(definition: D): Agent<AgentTypesOf<D>> {
  return { definition };
}

/**
 * Gathers a project's agents under their keys, for server, client and tests alike.
 * Throws a `TypeError` that names the path of the first fault.
 */
export function defineAgents<const A extends Agents>(agents: A): A {
  for (const [key, agent] of Object.entries(agents)) checkAgent(agents, key, agent);
  return agents;
}

/** Keys that a client can't carry, since promises, consoles and React read them. */
export const reservedAgentKeys: readonly string[] = [
  "then",
  "catch",
  "finally",
  "toJSON",
  "toString",
  "valueOf",
  "constructor",
  "prototype",
  "__proto__",
  "inspect",
  "$$typeof",
  "hasOwnProperty",
  "isPrototypeOf",
  "propertyIsEnumerable",
  "toLocaleString",
  "__defineGetter__",
  "__defineSetter__",
  "__lookupGetter__",
  "__lookupSetter__",
];

const reservedActionNames = ["load_skill", "run_agent", "resume_agent", "inspect_agent"];
const definitionKeys: readonly string[] = [
  "description",
  "metadata",
  "actions",
  "clientActions",
  "skills",
  "evaluations",
  "subagents",
  "output",
] satisfies (keyof AgentDefinition)[];

function refuse(path: Path, reason: string): never {
  throw new TypeError(`${formatPath(path)} ${reason}`);
}

function checkAgent(agents: Agents, key: string, agent: Agent): void {
  if (!/^[A-Za-z_$][A-Za-z0-9_$]{0,63}$/.test(key)) refuse([key], "must be a JavaScript identifier of 1 to 64 ASCII characters");
  if (reservedAgentKeys.includes(key)) refuse([key], "is reserved and can't name an agent");
  if (!isPlainObject(agent) || !isPlainObject(agent.definition)) refuse([key], "must come from defineAgent()");
  const definition: AgentDefinition = agent.definition;
  for (const field of Object.keys(definition)) {
    if (!definitionKeys.includes(field)) refuse([key, field], `is unknown; an agent has ${definitionKeys.join(", ")}`);
  }
  checkSchema(definition.metadata, [key, "metadata"]);
  checkSchema(definition.output, [key, "output"], "output");
  const names = new Set<string>();
  for (const kind of ["actions", "clientActions", "skills"] as const) {
    for (const [name, entry] of Object.entries(definition[kind] ?? {})) {
      checkName(name, [key, kind, name], names);
      if (kind !== "skills") checkAction(entry as ClientActionDefinition, [key, kind, name]);
    }
  }
  for (const [name, evaluation] of Object.entries(definition.evaluations ?? {})) {
    checkEvaluation(evaluation, [key, "evaluations", name]);
  }
  if (definition.subagents !== undefined && !Array.isArray(definition.subagents)) refuse([key, "subagents"], "must be an array of agents' keys");
  for (const [index, subagent] of (definition.subagents ?? []).entries()) {
    if (!Object.hasOwn(agents, subagent)) refuse([key, "subagents", index], `names ${JSON.stringify(subagent)}, which is not defined`);
    if (subagent === key) refuse([key, "subagents", index], "is the agent itself");
  }
}

function checkName(name: string, path: Path, names: Set<string>): void {
  if (!/^[A-Za-z0-9_-]{1,64}$/.test(name)) refuse(path, "must be 1 to 64 letters, digits, _ or -");
  if (reservedActionNames.includes(name)) refuse(path, "is reserved");
  if (names.has(name)) refuse(path, "is taken: actions, client actions and skills share their names");
  names.add(name);
}

/** A hundred years in milliseconds. */
const longestExpiry = 3_155_760_000_000;

function checkAction(action: ClientActionDefinition, path: Path): void {
  if (!isPlainObject(action)) refuse(path, "must be an object with an input schema");
  if (action.input === undefined) refuse([...path, "input"], "is missing");
  checkSchema(action.input, [...path, "input"]);
  checkSchema(action.output, [...path, "output"], "output");
  const { expiresInMs } = action;
  if (expiresInMs !== undefined && !(Number.isInteger(expiresInMs) && expiresInMs > 0)) {
    refuse([...path, "expiresInMs"], "must be a positive integer");
  }
  // No date is that far away.
  if (expiresInMs !== undefined && expiresInMs > longestExpiry) {
    refuse([...path, "expiresInMs"], "must be at most a hundred years; a call without it waits for ever");
  }
  if (action.onExpire !== undefined && !["deny", "fail"].includes(action.onExpire)) {
    refuse([...path, "onExpire"], 'must be "deny" or "fail"');
  }
}

function checkEvaluation(evaluation: EvaluationDefinition, path: Path): void {
  if (!isPlainObject(evaluation) || !isPlainObject(evaluation.metrics)) refuse([...path, "metrics"], "is missing");
  for (const [name, metric] of Object.entries(evaluation.metrics)) {
    const threshold = isPlainObject(metric) ? metric.threshold : undefined;
    if (threshold === undefined || !(threshold >= 0 && threshold <= 1)) refuse([...path, "metrics", name, "threshold"], "must be from 0 to 1");
  }
}

function checkSchema(schema: Schema | undefined, path: Path, side: "input" | "output" = "input"): void {
  if (schema !== undefined) jsonSchemaOf(schema, path, side);
}
