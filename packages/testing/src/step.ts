import type { ActionTypes, Agents, AgentTypes, EvaluationMetric, Usage } from "@orcha/contract";
import type { AgentTypesFrom } from "@orcha/client";

/*
 * The words of scripts and of fixtures. A run goes on from step to step while its steps call something, and ends with the
 * first one that doesn't:
 *
 *   { action } ──▶ { clientAction } ─ ─ waits for the app ─ ─▶ { text } | { output } | { fail }
 */

/** How the model says something. */
interface Said {
  text?: string;
  /** Thinking: part of the log, never of what an app renders. */
  reasoning?: string;
  /** Characters of text in a chunk; default 16. */
  chunkSize?: number;
  /** Milliseconds before the first chunk, and between chunks; default 0. */
  delayMs?: number;
  /** What the model says that it used; by default it doesn't say. */
  usage?: Partial<Usage>;
  /** Cuts every open stream of the session after so many chunks of this text. */
  cutAfterChunks?: number;
}

/** What tells the kinds of steps apart: each has one of these, and none has two. */
interface Nothing {
  user?: undefined;
  stopped?: undefined;
  action?: undefined;
  clientAction?: undefined;
  skill?: undefined;
  subagent?: undefined;
  calls?: undefined;
  output?: undefined;
  fail?: undefined;
  hangs?: undefined;
}

interface Named {
  /** Default `call_1`, `call_2`… in the session. */
  callId?: string;
}

/** An action that the model asks for, and what comes of it. */
export interface ActionCall<Name extends string = string, Arguments = unknown, Output = unknown> extends Omit<Nothing, "action" | "output" | "hangs">, Named {
  action: Name;
  arguments: Arguments;
  /** What the action gives. Without it, and without `error`, the scenario's `actions` has to have the action itself. */
  output?: Output;
  /** Why the action fails. */
  error?: string;
  /** How long the action works, in milliseconds; default 0. */
  takesMs?: number;
  /** The action never ends by itself. */
  hangs?: true;
}

/** Something that the model asks the app for, and what the app says. */
export interface ClientActionCall<Name extends string = string, Arguments = unknown, Output = unknown>
  extends Omit<Nothing, "clientAction" | "output">, Named {
  clientAction: Name;
  arguments: Arguments;
  /** In a fixture: what was answered. Without an outcome the call waits; in a script it always does. */
  output?: Output;
  /** In a fixture: how the call ended otherwise. */
  outcome?: "denied" | "expired";
  /** In a fixture: why it was denied. */
  reason?: string;
}

/** A skill that the model loads. */
export interface SkillCall<Name extends string = string> extends Omit<Nothing, "skill">, Named {
  skill: Name;
}

/** A task that the model hands to another agent. */
export interface SubagentCall<Name extends string = string, Child extends AgentTypes = AgentTypes, A = Agents> extends Omit<Nothing, "subagent">, Named {
  subagent: Name;
  /** The task. */
  input: string;
  /** What the other agent does; by default the next run of its own script. */
  steps?: readonly Step<Child, A>[];
}

type ActionCalls<Actions> = {
  [Name in keyof Actions & string]: Actions[Name] extends ActionTypes<infer Arguments, infer Output> ? ActionCall<Name, Arguments, Output> : never;
}[keyof Actions & string];

type ClientActionCalls<Actions> = {
  [Name in keyof Actions & string]: Actions[Name] extends ActionTypes<infer Arguments, infer Output> ? ClientActionCall<Name, Arguments, Output> : never;
}[keyof Actions & string];

type SubagentCalls<Names extends string, A> = { [Name in Names]: SubagentCall<Name, AgentTypesFrom<A[Name & keyof A]>, A> }[Names];

/** Anything that an agent's model can call. */
export type Call<T extends AgentTypes, A> =
  | ActionCalls<T["actions"]>
  | ClientActionCalls<T["clientActions"]>
  | ([T["skills"]] extends [never] ? never : SkillCall<T["skills"]>)
  | ([T["subagents"]] extends [never] ? never : SubagentCalls<T["subagents"], A>);

/** How a run is judged when it has ended: a score for each metric, from 0 to 1, or a score with its reasons. */
export type Scores = Readonly<Record<string, number | (Pick<EvaluationMetric, "score" | "reasoning"> & { evidence?: readonly string[] })>>;

/** Scores by evaluation. */
export type Evaluations<T extends AgentTypes> = { readonly [Name in T["evaluations"]]?: Scores };

/** A text that ends the run. */
export interface TextStep<T extends AgentTypes = AgentTypes> extends Omit<Nothing, "hangs">, Said {
  text: string;
  /** How the run is judged; by default as the scenario says. */
  evaluations?: Evaluations<T>;
  /** The answer never ends by itself: the run goes on until it is stopped, paused or handed over. */
  hangs?: true;
}

/** A structured answer that ends the run. */
export interface OutputStep<T extends AgentTypes = AgentTypes> extends Omit<Nothing, "output">, Omit<Said, "text"> {
  output: T["output"];
  text?: undefined;
  /** How the run is judged; by default as the scenario says. */
  evaluations?: Evaluations<T>;
}

/** A failure of the model, which ends the run with `provider_error`; a text that goes before it is kept as incomplete. */
export interface FailStep extends Omit<Nothing, "fail">, Said {
  fail: {
    message: string;
    /** Whether the run's error says that another try may succeed; default false. */
    retryable?: boolean;
    /** The HTTP status of the provider. */
    statusCode?: number;
  };
}

/** Several calls of one turn of the model. */
export interface CallsStep<T extends AgentTypes = AgentTypes, A = Agents> extends Omit<Nothing, "calls">, Said {
  calls: readonly Call<T, A>[];
}

/** What the model says or asks for next. */
export type Step<T extends AgentTypes, A> = (Said & Call<T, A>) | CallsStep<T, A> | TextStep<T> | OutputStep<T> | FailStep;

/** A step whose types are forgotten, as the player handles it. */
export type AnyCall = ActionCall | ClientActionCall | SkillCall | SubagentCall;
export type AnyStep = (Said & AnyCall) | (Omit<CallsStep, "calls"> & { calls: readonly AnyCall[] }) | TextStep | OutputStep | FailStep;

/** The calls of a step, in the model's order. */
export function callsOf(step: AnyStep): readonly AnyCall[] {
  if (step.calls !== undefined) return step.calls;
  const isCall = step.action !== undefined || step.clientAction !== undefined || step.skill !== undefined || step.subagent !== undefined;
  return isCall ? [step] : [];
}

/** Tells whether the run ends with this step. */
export function isLast(step: AnyStep): boolean {
  return callsOf(step).length === 0;
}
