import type { AssistantContent, MessageContent, ToolResultContent } from "./content.ts";
import type { Usage } from "./usage.ts";

/*
 * The vocabulary of the log, and how a run moves through it:
 *
 *   run.started ──▶ running ──────────────────────────────▶ run.completed | run.failed | run.stopped
 *                    │   ▲
 *                    │   └── client_action.resolved (the last one) ── waiting_for_client_action
 *                    ├────── client_action.requested ───────────────▶ waiting_for_client_action
 *                    ├────── subagent.initiated|resumed ────────────▶ waiting_for_subagent
 *                    │       subagent.completed|paused|failed ──────▶ running
 *                    └────── run.paused | session.paused ───────────▶ paused ── session.resumed ─▶ …
 */

/** How far the last run of a session is. */
export type RunStatus =
  | "running"
  | "waiting_for_client_action"
  | "waiting_for_subagent"
  | "paused"
  | "completed"
  | "failed"
  | "stopped";

/** Where a session came from, when it was not created by a caller. */
export type Lineage =
  | { origin: "delegated"; parentAgent: string; parentSessionId: string; parentCallId: string }
  | { origin: "forked"; sessionId: string; throughSequence: number };

/** Values that a caller may attach to a session: at most 50 keys of plain scalars. */
export interface Metadata {
  [key: string]: string | number | boolean | null;
}

/** What went wrong in a run or an action. */
export interface EventError {
  code: string;
  message: string;
  retryable?: boolean;
  details?: unknown;
}

/** One score of an evaluation, from 0 to 1. */
export interface EvaluationMetric {
  name: string;
  score: number;
  threshold: number;
  passed: boolean;
  reasoning: string;
  evidence: string[];
}

/** A call that waits for a person or an app. */
export interface ClientActionCall {
  callId: string;
  name: string;
  arguments?: unknown;
  /** ISO time after which the call's default outcome applies. */
  expiresAt?: string;
}

/** How a client action ended; every call ends in exactly one of these. */
export type ClientActionOutcome = "answered" | "denied" | "expired" | "cancelled";

/** The end of one client action; `output` where it was answered. */
export interface ClientActionResult {
  callId: string;
  /** Default "answered". */
  outcome?: ClientActionOutcome;
  output?: unknown;
  isError?: boolean;
  reason?: string;
}

interface MessageBase {
  /** A participant's name, where the model was given one. */
  name?: string;
  /** "incomplete" where a stop or a crash cut the answer. */
  status?: "completed" | "incomplete";
  provider?: string;
  model?: string;
  responseId?: string;
  stopReason?: string;
  parsedOutput?: unknown;
  usage?: Usage;
  durationMs?: number;
}

/** A message; what its content holds depends on the role. */
export type MessageCreated =
  | (MessageBase & { role: "user"; content: MessageContent[] })
  | (MessageBase & { role: "assistant"; content: AssistantContent[] })
  | (MessageBase & { role: "tool"; content: ToolResultContent[] });

interface Call {
  callId: string;
  name: string;
}

interface SubagentCall {
  callId: string;
  /** The subagent's key. */
  agent: string;
  /** The child session. */
  sessionId: string;
}

interface SubagentOutcome extends SubagentCall {
  status?: string;
  output?: unknown;
  usage?: Usage;
  error?: EventError;
}

interface EvaluationRun {
  name: string;
  provider?: string;
  model?: string;
  evaluatedThroughSequence?: number;
}

/** What each type of event carries. */
export interface EventDataByType {
  "session.created": {
    schemaVersion: number;
    sessionId: string;
    agent: string;
    status: "active";
    name?: string;
    metadata: Metadata;
    variables: Record<string, string>;
    lineage?: Lineage;
  };
  "session.updated": { name?: string | null; metadata?: Metadata; unset?: readonly string[] };
  "session.paused": { status?: "paused" };
  "session.resumed": { status?: "active" };
  "session.completed": { status: "completed" | "failed"; summary?: string };
  "run.started": {
    status?: "running";
    agent?: string;
    provider?: string;
    model?: string;
    clientCapabilities?: string[];
    /** "server" where an Orcha server runs the agent, and goes on with the run after a pause or a crash. */
    host?: "server";
    /** The fence of the run's first lease. */
    fence?: number;
  };
  "run.paused": { status?: string; output?: unknown; usage?: Usage; durationMs?: number };
  "run.completed": { status?: string; output?: unknown; usage?: Usage; durationMs?: number };
  "run.failed": { status?: string; error: EventError; usage?: Usage; durationMs?: number };
  "run.stopped": { status?: string; reason?: string; output?: unknown; usage?: Usage; durationMs?: number };
  "message.created": MessageCreated;
  "action.requested": Call & { arguments?: unknown; argumentsText?: string; idempotencyKey?: string };
  "action.completed": Call & { output?: unknown; durationMs?: number };
  "action.failed": Call & { error: EventError; durationMs?: number; synthetic?: boolean };
  "client_action.requested": { status?: "waiting"; calls: ClientActionCall[] };
  "client_action.resolved": { status?: string; results: ClientActionResult[]; resolvedBy?: string };
  "skill.requested": Call;
  "skill.loaded": { callId?: string; name: string; alreadyLoaded?: boolean };
  "skill.failed": { callId?: string; name: string; error: EventError };
  "evaluation.requested": EvaluationRun & {
    /** ISO time by which a server that is alive has said the outcome; then another one judges. */
    expiresAt?: string;
    /** How often the run has been given to this evaluation, this time included; absent means 1. */
    attempt?: number;
  };
  "evaluation.completed": EvaluationRun & {
    status: "passed" | "failed";
    metrics: EvaluationMetric[];
    usage?: Usage;
    durationMs?: number;
  };
  "evaluation.failed": EvaluationRun & { status?: string; error: { code?: string; message: string }; durationMs?: number };
  "subagent.initiated": SubagentCall;
  "subagent.resumed": SubagentCall;
  "subagent.completed": SubagentOutcome;
  "subagent.paused": SubagentOutcome;
  "subagent.failed": SubagentOutcome;
}

export type EventType = keyof EventDataByType;

/** One entry of a session's log. */
export interface EventOf<T extends EventType> {
  /** 1, 2, 3… in the session, without holes: the only order there is. */
  sequence: number;
  /** Version of the type's data; readers lift older ones. */
  v: number;
  type: T;
  /** ISO UTC; for people, never for order. */
  timestamp: string;
  /** Number of the run in the session; absent on what belongs to the session itself. */
  run?: number;
  /** Who did it: the subject of the caller's token. */
  actor?: string;
  data: EventDataByType[T];
}

/** Any event that this version knows; narrow it by `type`. */
export type SessionEvent = { [T in EventType]: EventOf<T> }[EventType];

/** An event as a caller appends it: the store gives it its place. */
export interface EventInputOf<T extends EventType> {
  type: T;
  data: EventDataByType[T];
  timestamp?: string;
  run?: number;
}

/** Any event that a caller may append: everything but `session.*`. */
export type EventInput = { [T in Exclude<EventType, `session.${string}`>]: EventInputOf<T> }[Exclude<
  EventType,
  `session.${string}`
>];

/** The version that new events are written in. */
export const eventVersion = 1;
