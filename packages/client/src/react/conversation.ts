import type {
  AgentTypes,
  AnyAgentTypes,
  HistoryItem,
  MessageItem,
  PendingClientAction,
  SessionSnapshot,
  Unlisted,
} from "@orcha/contract";
import type { Content } from "../agent-client.ts";
import type { OrchaError } from "../error.ts";
import type { ExecutionResult } from "../execution.ts";
import type { ConnectionState, StreamingAnswer } from "./history-view.ts";

/** A message of this user that the history doesn't hold yet; its item takes its place. */
export interface SendingMessage extends MessageItem {
  sending: {
    status: "sending" | "failed";
    error?: OrchaError;
    /** Says it again. It is said once, also where it had arrived. */
    retry: () => void;
    /** Takes it off the screen, once it failed. */
    discard: () => void;
  };
}

/** What a conversation shows, one after the other; narrow by `type`, then by `name`. */
export type ConversationItem<T extends AgentTypes = AnyAgentTypes> =
  | Exclude<HistoryItem<T>, MessageItem>
  | (MessageItem & { sending?: undefined })
  | SendingMessage;

/** A client action that waits for this app. */
export interface PendingAction<Name, Arguments, Output> extends PendingClientAction<Name, Arguments> {
  /** An answer is on its way: its buttons are of no use now. */
  isAnswering: boolean;
  /** Why the last answer didn't arrive. */
  error: OrchaError | undefined;
  /** Answers it. The result is how the run went on; nobody has to wait for it. */
  answer: (output: Output) => Promise<ExecutionResult>;
  /** Refuses it; the model is told why. */
  deny: (reason?: string) => Promise<ExecutionResult>;
}

type SideOf<Action, Side extends string> = Action[Side & keyof Action];

/** The client actions of an agent that wait; narrow by `name`. */
export type PendingActionOf<T extends AgentTypes = AnyAgentTypes> =
  | {
      [Name in keyof T["clientActions"] & string]: PendingAction<
        Name,
        SideOf<T["clientActions"][Name], "arguments">,
        SideOf<T["clientActions"][Name], "output">
      >;
    }[keyof T["clientActions"] & string]
  | PendingAction<Unlisted, unknown, unknown>;

/** How to say something. */
export interface SendOptions<T extends AgentTypes = AnyAgentTypes> {
  /** The client actions that this app can answer; all of the agent's by default. */
  clientCapabilities?: readonly (keyof T["clientActions"] & string)[];
}

/** A conversation, and what can be done in it. */
export interface Conversation<T extends AgentTypes = AnyAgentTypes> {
  /** Oldest first. An item that doesn't change stays the same object, and keeps its id; the newest messages may be on their way. */
  items: readonly ConversationItem<T>[];
  /** The answer in the making; the item of the answer replaces it. */
  streaming: StreamingAnswer | undefined;
  /** The client actions that wait for an answer. */
  pendingClientActions: readonly PendingActionOf<T>[];
  /** The session at a glance, as it is now. */
  snapshot: SessionSnapshot<T> | undefined;
  /** Whether the agent is at work, or about to be. */
  isRunning: boolean;
  hasOlder: boolean;
  isFetchingOlder: boolean;
  /** Why the last older page didn't come; `fetchOlder` tries again. */
  olderError: OrchaError | undefined;
  /** Loads the page before the oldest item. Never rejects. */
  fetchOlder: () => Promise<void>;
  /** "pending" until the first page is there, "error" where it can't be had. */
  status: "pending" | "error" | "success";
  /** Why there is no page, or why the conversation is not kept up to date any more; see `connection`. */
  error: OrchaError | undefined;
  connection: ConnectionState;
  /** Set once nothing will come any more. */
  ended: "completed" | "deleted" | undefined;
  /** Says something, shows it at once, and lets the agent answer. The result is how the run went; nobody has to wait for it. */
  send: (content: Content, options?: SendOptions<T>) => Promise<ExecutionResult<T>>;
  /** Goes on with a session that was paused. */
  resume: () => Promise<ExecutionResult<T>>;
  /** Interrupts the run and lets the session rest, until `resume` or `send`. Rejects where it fails; nobody has to wait for it. */
  pause: () => Promise<SessionSnapshot<T>>;
  /** Ends the run at once, and cancels what it waits for. Rejects where it fails; nobody has to wait for it. */
  stop: () => Promise<SessionSnapshot<T>>;
  /** Reads what failed anew, after its cause was seen to. */
  retry: () => void;
}
