import type {
  AgentMessage,
  AgentTypes,
  AnyAgentTypes,
  AppendReceipt,
  EventInput,
  MessageContent,
  RestoredSession,
  RunStatus,
  SessionEvents,
  SessionHistory,
  SessionList,
  SessionSnapshot,
  SessionStatus,
  TailFrame,
  ToolResult,
} from "@orcha/contract";
import type { OrchaError } from "./error.ts";
import type { Execution, ExecutionResult } from "./execution.ts";
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

/** From where to follow a session. */
export interface TailOptions extends CallOptions {
  /** The event that the app knows of already: a page's `throughSequence`. By default now. */
  after?: number;
  /** Told each time that the connection is lost; a `ready` frame says that the next one has caught up. */
  onDisconnect?: (error: OrchaError) => void;
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

/** What a user says: a text, or content blocks. */
export type Content = string | MessageContent | readonly MessageContent[];

/** A first message, and the session that it opens. */
export interface RunInput<T extends AgentTypes = AnyAgentTypes> {
  content: Content;
  /** Made by the client when not given; a call with an `idempotencyKey` opens the session that the key names. */
  sessionId?: string;
  name?: string;
  metadata?: T["metadata"];
  /** Put into the agent's instructions. */
  variables?: Record<string, string>;
  /** The client actions that this app can answer; all of the agent's by default. */
  clientCapabilities?: readonly (keyof T["clientActions"] & string)[];
}

/** What a session goes on with: answers to client actions that wait, or a message. */
export type ResumeInput<T extends AgentTypes = AnyAgentTypes> =
  | { toolResults: readonly ToolResult[]; content?: undefined }
  | {
      content: Content;
      /** The client actions that this app can answer; all of the agent's by default. */
      clientCapabilities?: readonly (keyof T["clientActions"] & string)[];
      toolResults?: undefined;
    };

/** The sessions of one agent. Calls throw `OrchaError`; each has a `safe` that returns `{ data, error }` instead. */
export interface AgentClient<T extends AgentTypes = AnyAgentTypes> {
  /** The agent's key. */
  readonly agent: string;

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

  /** Runs the agent in a new session. It returns at once, and works on whether or not anyone reads. */
  readonly run: (input: string | RunInput<T>, options?: WriteOptions) => Execution<T>;

  /**
   * Goes on with a session: with a message, with answers to the client actions that wait, or with "Continue." It returns
   * at once, and works on whether or not anyone reads.
   */
  readonly resume: (sessionId: string, input?: string | ResumeInput<T>, options?: WriteOptions) => Execution<T, ExecutionResult<T>>;

  /** Interrupts the run and lets the session rest, until `resume`. */
  readonly pause: Method<[sessionId: string, options?: WriteOptions], SessionSnapshot<T>>;

  /** Ends the run at once, and cancels what it waits for; the session stays open. */
  readonly stop: Method<[sessionId: string, options?: WriteOptions], SessionSnapshot<T>>;

  /**
   * Follows what changes: items as they are, the snapshot, and the answer in the making. It goes on through disconnects
   * until the session ends or the signal fires, which ends it quietly; it throws what no new connection would mend.
   */
  readonly tail: (sessionId: string, options?: TailOptions) => AsyncIterable<TailFrame<T>>;

  /** Reads a page of the history of a session that this agent delegated to another one. */
  readonly subagentHistory: Method<[childSessionId: string, options?: PageOptions], SessionHistory>;

  /** Reads a page of the log of a session that this agent delegated to another one. */
  readonly subagentEvents: Method<[childSessionId: string, options?: PageOptions], SessionEvents>;
}
