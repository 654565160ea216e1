import type {
  AgentMessage,
  AgentTypes,
  AnyAgentTypes,
  AppendReceipt,
  EventInput,
  RestoredSession,
  RunStatus,
  SessionEvents,
  SessionHistory,
  SessionList,
  SessionSnapshot,
  SessionStatus,
  ToolResult,
} from "@orcha/contract";
import type { Execution } from "./execution.ts";
import type { Method } from "./method.ts";

/** Taken by every call. */
export interface CallOptions {
  /** Ends the call, its waits included, with the code `aborted`. */
  signal?: AbortSignal;
}

/** Taken by every write. */
export interface WriteOptions extends CallOptions {
  /** Names the write, so that repeating it has no second effect; made per call when not given. */
  idempotencyKey?: string;
  /** Lets the write through only while the session is at this sequence; else `sequence_conflict`. */
  ifSequence?: number;
}

/** A session to be. */
export interface CreateOptions<T extends AgentTypes = AnyAgentTypes> extends WriteOptions {
  /** Made by the server when not given. */
  sessionId?: string;
  name?: string;
  metadata?: T["metadata"];
  variables?: Record<string, string>;
}

/** A session to be that opens with messages. */
export interface RestoreOptions<T extends AgentTypes = AnyAgentTypes> extends WriteOptions {
  /** Made by the server when not given. */
  sessionId?: string;
  name?: string;
  metadata?: T["metadata"];
}

/** Which page of a session. */
export interface PageOptions extends CallOptions {
  /** 1, the default, is the newest. */
  page?: number;
  /** 1 to 100; 50 by default. */
  pageSize?: number;
  /** Pins the view: what `throughSequence` of an earlier page said. */
  throughSequence?: number;
}

/** How to turn all pages. */
export interface PagesOptions extends CallOptions {
  /** 1 to 100; 50 by default. */
  pageSize?: number;
}

/** Which sessions; filters are exact, and all must hold. */
export interface ListOptions<T extends AgentTypes = AnyAgentTypes> extends CallOptions {
  /** 1 to 100; 50 by default. */
  pageSize?: number;
  /** `nextCursor` of the list before. */
  cursor?: string;
  status?: SessionStatus;
  runStatus?: RunStatus;
  metadata?: Partial<T["metadata"]>;
}

/** What to change in a session. */
export interface UpdateOptions<T extends AgentTypes = AnyAgentTypes> extends WriteOptions {
  /** Null clears it. */
  name?: string | null;
  /** Merged into what is there. */
  metadata?: Partial<T["metadata"]>;
  /** Metadata keys to remove. */
  unset?: readonly (keyof T["metadata"] & string)[];
}

/** How a session ended. */
export interface CompleteOptions extends WriteOptions {
  /** "completed" by default. */
  status?: "completed" | "failed";
  summary?: string;
}

/** Which part of a session to copy. */
export interface ForkOptions extends WriteOptions {
  /** The last event to copy; all by default. */
  throughSequence?: number;
  /** The copy's name. */
  name?: string;
}

/** What an agent that runs elsewhere did: either its messages or its events. */
export type AppendInput =
  | { messages: readonly AgentMessage[]; events?: undefined }
  | { events: readonly EventInput[]; messages?: undefined };

/** Answers to client actions that wait. */
export interface ResumeInput {
  toolResults: readonly ToolResult[];
}

/** The sessions of one agent. Calls throw `OrchaError`; each has a `safe` that returns `{ data, error }` instead. */
export interface AgentClient<T extends AgentTypes = AnyAgentTypes> {
  /** Creates an empty session. */
  readonly create: Method<[options?: CreateOptions<T>], SessionSnapshot<T>>;

  /** Reads a session at a glance. */
  readonly get: Method<[sessionId: string, options?: CallOptions], SessionSnapshot<T>>;

  /** Reads a page of what an app renders: page 1 is the newest, and inside a page the oldest item is first. */
  readonly history: Method<[sessionId: string, options?: PageOptions], SessionHistory<T>>;

  /** Reads a page of the canonical log. */
  readonly events: Method<[sessionId: string, options?: PageOptions], SessionEvents<T>>;

  /** Reads the conversation as the next model call sees it. */
  readonly messages: Method<[sessionId: string, options?: CallOptions], AgentMessage[]>;

  /** Creates a session that opens with the given messages. */
  readonly restore: Method<[messages: readonly AgentMessage[], options?: RestoreOptions<T>], RestoredSession<T>>;

  /** Adds to a session what an agent that runs elsewhere did. */
  readonly append: Method<[sessionId: string, input: AppendInput, options?: WriteOptions], AppendReceipt>;

  /** Lists sessions, the last changed first. */
  readonly list: Method<[options?: ListOptions<T>], SessionList<T>>;

  /** Changes a session's name or metadata. */
  readonly update: Method<[sessionId: string, options: UpdateOptions<T>], SessionSnapshot<T>>;

  /** Ends a session; its history stays readable. */
  readonly complete: Method<[sessionId: string, options?: CompleteOptions], SessionSnapshot<T>>;

  /** Copies a session, so that the conversation can go on another way; open calls of the copy end as cancelled. */
  readonly fork: Method<[sessionId: string, options?: ForkOptions], SessionSnapshot<T>>;

  /** Deletes a session for good. */
  readonly delete: Method<[sessionId: string, options?: WriteOptions], void>;

  /** Reads all pages of one view of the history, newest first; what is added meanwhile doesn't move them. */
  readonly pages: (sessionId: string, options?: PagesOptions) => AsyncIterable<SessionHistory<T>>;

  /** Answers client actions. It returns at once and goes on whether or not anyone reads the result. */
  readonly resume: (sessionId: string, input: ResumeInput, options?: WriteOptions) => Execution<T>;
}
