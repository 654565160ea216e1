import type { AgentTypesFrom, Content } from "@orcha/client";
import type { AgentMessage, Agents, AgentTypes, EventInput } from "@orcha/contract";
import type { AgentImplementation } from "@orcha/server";
import type { AnyStep, Evaluations, Step } from "./step.ts";

/** What the user said. */
export interface UserEntry {
  user: Content;
  /** When it was said, as an ISO time; by default a second after what stands before it. */
  at?: string;
  stopped?: undefined;
}

/** Somebody stopped what was under way: an answer, an action, or calls that waited. */
export interface StoppedEntry {
  stopped: true;
  user?: undefined;
}

/** One thing that happened in a conversation: what the user said, or what the agent did about it. */
export type Entry<T extends AgentTypes, A> = UserEntry | Step<T, A> | StoppedEntry;

/** An entry whose types are forgotten. */
export type AnyEntry = UserEntry | StoppedEntry | AnyStep;

interface FixtureBase<T extends AgentTypes> {
  /** Default `ses_test_1`, `ses_test_2`… */
  sessionId?: string;
  name?: string;
  metadata?: T["metadata"];
  /** As an ISO time; by default the sessions of an agent were last changed one, two, three… seconds before the clock's start. */
  createdAt?: string;
  /** The session was completed, or paused, in the end. */
  ended?: "completed" | "failed" | "paused";
}

/** A session of which a conversation is told. What is told is run for real, so that its log is what a server writes. */
export interface HistoryFixture<T extends AgentTypes = AgentTypes, A = Agents> extends FixtureBase<T> {
  history?: readonly Entry<T, A>[];
  variables?: Record<string, string>;
  messages?: undefined;
  events?: undefined;
  bundle?: undefined;
}

/** A session that opens with messages, as a model sees them. */
export interface MessagesFixture<T extends AgentTypes = AgentTypes> extends FixtureBase<T> {
  messages: readonly AgentMessage[];
  history?: undefined;
  events?: undefined;
  bundle?: undefined;
}

/** A session with events of its log, for what a conversation can't tell. */
export interface EventsFixture<T extends AgentTypes = AgentTypes> extends FixtureBase<T> {
  events: readonly EventInput[];
  variables?: Record<string, string>;
  history?: undefined;
  messages?: undefined;
  bundle?: undefined;
}

/** Sessions of a file: a bundle that `orcha export` wrote, or one session's log. */
export interface BundleFixture {
  bundle: string | Uint8Array;
  history?: undefined;
  messages?: undefined;
  events?: undefined;
}

/** A session that is there when a test begins. */
export type SessionFixture<T extends AgentTypes, A> = HistoryFixture<T, A> | MessagesFixture<T> | EventsFixture<T> | BundleFixture;

/** A run that wants to know what its agent does. */
export interface ScriptedRun<T extends AgentTypes> {
  sessionId: string;
  /** Counts the runs of the session, from 1. */
  run: number;
  metadata: T["metadata"];
  /** What the user said last. */
  text: string;
}

/**
 * What an agent does. A list is the runs one after the other, each up to its answer: the second run to start goes on
 * behind the first `{ text }`. A function is asked once for each run.
 */
export type Script<T extends AgentTypes, A> =
  | readonly Step<T, A>[]
  | ((run: ScriptedRun<T>) => Step<T, A> | readonly Step<T, A>[] | Promise<Step<T, A> | readonly Step<T, A>[]>);

type ActionsOf<T extends AgentTypes> = AgentImplementation<T> extends { readonly actions?: infer X } ? Partial<X> : object;

/** One agent of a scenario. */
export interface AgentScenario<T extends AgentTypes = AgentTypes, A = Agents> {
  /** The sessions that are there when a test begins. */
  sessions?: readonly SessionFixture<T, A>[];
  /** What the agent does when it is run. Without one it runs elsewhere, and this server only keeps its sessions. */
  script?: Script<T, A>;
  /** Implementations of actions, for steps that don't say what comes of them. */
  actions?: ActionsOf<T>;
  /** How completed runs are judged; what isn't said is 1. */
  evaluations?: Evaluations<T>;
}

/** What a mock has and does, by agent. */
export type Scenario<A> = { readonly [K in keyof A]?: AgentScenario<AgentTypesFrom<A[K]>, A> };
