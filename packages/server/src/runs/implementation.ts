import type { LanguageModelV4 } from "@ai-sdk/provider";
import type { ModelSettings } from "@orcha/agent/loop";
import { argumentsSchemaOf, formatPath, type ActionTypes, type Agent, type AgentMessage, type Agents, type AgentTypes, type Metadata } from "@orcha/contract";
import { keysOf } from "../metadata.ts";

/** What an action knows of the call that it serves. */
export interface ActionContext<M = Metadata> {
  sessionId: string;
  /** The session's metadata when the run started. */
  metadata: M;
  callId: string;
  /** The same for every try of the same call, after a crash too: pass it on, and the effect happens once. */
  idempotencyKey: string;
  /** Fires when the run is stopped, or the action has had its time. */
  signal: AbortSignal;
  /** Writes a line to the server's log. Content doesn't belong there. */
  log: (message: string, fields?: Readonly<Record<string, unknown>>) => void;
}

/** Does for the model what its definition promises. What it throws becomes an error result, not a failed run. */
export type Action<Input, Output, M> = (input: Input, context: ActionContext<M>) => Output | Promise<Output>;

/** What an evaluation judges: the session as of the run's end. */
export interface EvaluationContext<M = Metadata> {
  sessionId: string;
  metadata: M;
  /** The conversation as a model sees it. */
  messages: readonly AgentMessage[];
  /** The run's answer. */
  output: unknown;
  signal: AbortSignal;
}

/** One metric as an evaluation gives it; whether it passed follows from the definition's threshold. */
export interface Score {
  /** From 0 to 1. */
  score: number;
  reasoning: string;
  evidence?: readonly string[];
}

/** Judges a completed run: a score for each metric of the definition. */
export type Evaluation<M> = (context: EvaluationContext<M>) => Promise<Readonly<Record<string, Score>>>;

interface Optional<M> {
  /** An AI SDK model, or a name such as "openai/gpt-5-mini"; by default what the environment offers. */
  model?: LanguageModelV4 | string;
  /** The system prompt; `{{ name }}` stands for the session's variable of that name. */
  instructions: string;
  /** How the model is asked. */
  settings?: ModelSettings;
  /** Milliseconds that one call of an action may take, up to 24 days; default 10,000. */
  actionTimeoutMs?: number;
  /** Action rounds from one user message, or client's answer, to the next; default 10. */
  maxRounds?: number;
  /** How many sessions one run may delegate; default 10. */
  maxSubagentsPerRun?: number;
  /** Milliseconds that one evaluation may take, up to 24 days; default 60,000. */
  evaluationTimeoutMs?: number;
  readonly "~metadata"?: M;
}

type ActionsOf<T extends AgentTypes> = {
  readonly [Name in keyof T["actions"]]: T["actions"][Name] extends ActionTypes<infer Input, infer Output>
    ? Action<Input, Output, T["metadata"]>
    : never;
};

/** Required where there is something to implement. */
type Member<Name extends string, Keys, Value> = [Keys] extends [never]
  ? { readonly [N in Name]?: Value }
  : string extends Keys
    ? { readonly [N in Name]?: Value }
    : { readonly [N in Name]: Value };

/** How a server runs an agent: a missing or mistyped action, skill or evaluation doesn't compile. */
export type AgentImplementation<T extends AgentTypes> = Optional<T["metadata"]> &
  Member<"actions", keyof T["actions"], ActionsOf<T>> &
  Member<"skills", T["skills"], { readonly [Name in T["skills"]]: SkillText }> &
  Member<"evaluations", T["evaluations"], { readonly [Name in T["evaluations"]]: Evaluation<T["metadata"]> }>;

/** A skill's instructions, or how to get them. */
export type SkillText = string | (() => string | Promise<string>);

/** Implementations by agent; an agent without one runs elsewhere, and this server keeps its log. */
export type Implementations<A extends Agents> = {
  readonly [K in keyof A]?: A[K] extends Agent<infer T> ? AgentImplementation<T> : never;
};

/** An implementation whose types are forgotten, as the server handles it: inputs are checked before an action sees them. */
export interface AnyImplementation extends Omit<Optional<unknown>, "~metadata"> {
  readonly actions?: Readonly<Record<string, Action<unknown, unknown, unknown>>>;
  readonly skills?: Readonly<Record<string, SkillText>>;
  readonly evaluations?: Readonly<Record<string, Evaluation<unknown>>>;
}

/** Implementations of a server, by agent. */
export type AnyImplementations = Readonly<Record<string, AnyImplementation>>;

/** Checks implementations against the definitions. Throws a `TypeError` with the path of the first fault. */
export function readImplementations(agents: Agents, given: object = {}): AnyImplementations {
  const implementations = given as AnyImplementations;
  for (const [key, implementation] of Object.entries(implementations)) {
    const agent = Object.hasOwn(agents, key) ? agents[key] : undefined;
    if (!agent) throw new TypeError(`implementations.${key} implements no agent of this server`);
    if (implementation === undefined) continue;
    if (typeof implementation.instructions !== "string" || implementation.instructions.trim() === "") {
      throw new TypeError(`implementations.${key}.instructions must be a text`);
    }
    for (const name of ["actionTimeoutMs", "evaluationTimeoutMs"] as const) checkNumber(key, name, implementation[name], 1, longestTimer);
    for (const name of ["maxRounds", "maxSubagentsPerRun"] as const) checkNumber(key, name, implementation[name], 0, Infinity);
    for (const kind of ["actions", "clientActions"] as const) {
      // What no model can be offered.
      for (const [name, { input }] of Object.entries(agent.definition[kind] ?? {})) argumentsSchemaOf(input, [key, kind, name, "input"]);
    }
    for (const kind of ["actions", "skills", "evaluations"] as const) {
      checkMembers(`implementations.${key}.${kind}`, agent.definition[kind] ?? {}, implementation[kind] ?? {});
    }
  }
  return Object.fromEntries(Object.entries(implementations).filter(([, implementation]) => implementation !== undefined));
}

/** The longest time that timers take, in milliseconds: a longer one would be over at once. */
const longestTimer = 2 ** 31 - 1;

function checkNumber(key: string, name: string, value: unknown, least: number, most: number): void {
  if (value === undefined || (typeof value === "number" && value >= least && value <= most)) return;
  throw new TypeError(`implementations.${key}.${name} must be a number from ${least}${most === Infinity ? "" : ` to ${most}`}`);
}

/**
 * Checks that agents which run here can delegate: a delegated session is opened without metadata. A schema that answers
 * later is asked when it is. Throws a `TypeError` with the path of the first subagent that can't be.
 */
export function checkDelegations(agents: Agents, implementations: AnyImplementations): void {
  for (const key of Object.keys(implementations)) checkSubagents(agents, key);
}

function checkSubagents(agents: Agents, key: string): void {
  for (const [index, subagent] of (agents[key]?.definition.subagents ?? []).entries()) {
    const result = agents[subagent]?.definition.metadata?.["~standard"].validate({});
    const issue = result && "issues" in result ? result.issues?.[0] : undefined;
    if (!issue) continue;
    const at = formatPath([subagent, "metadata", ...keysOf(issue.path)]);
    const path = formatPath([key, "subagents", index]);
    throw new TypeError(`${path} can't be delegated to: ${at} must be optional, since a delegation gives no metadata (${issue.message})`);
  }
}

function checkMembers(path: string, defined: object, implemented: object): void {
  for (const name of Object.keys(defined)) {
    if (!Object.hasOwn(implemented, name)) throw new TypeError(`${path}.${name} is missing`);
  }
  for (const [name, member] of Object.entries(implemented)) {
    if (!Object.hasOwn(defined, name)) throw new TypeError(`${path}.${name} is not in the agent's definition`);
    if (typeof member !== "function" && !(path.endsWith(".skills") && typeof member === "string")) {
      throw new TypeError(`${path}.${name} must be a function`);
    }
  }
}
