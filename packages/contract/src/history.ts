import * as v from "valibot";
import type { AgentTypes, AnyAgentTypes, ArgumentsOf, Unlisted } from "./agent.ts";
import { messageContentSchema, type MessageContent } from "./content.ts";
import type { ClientActionOutcome, EvaluationMetric, SessionEvent } from "./event.ts";
import { evaluationMetricSchema } from "./event-schema.ts";
import { snapshotEntries, type SessionSnapshot } from "./session.ts";
import { usageSchema, type Usage } from "./usage.ts";

interface ItemBase {
  /** Stable for life: `message:3`, `client-action:call_123`. */
  id: string;
  /** ISO time of the item's first appearance. */
  createdAt: string;
  /** ISO time of its last change, once it changed. */
  updatedAt?: string;
}

/** What a person or the assistant said. */
export interface MessageItem extends ItemBase {
  type: "message";
  role: "user" | "assistant";
  content: MessageContent[];
  /** The answer was cut by a stop or a crash. */
  incomplete?: true;
  usage?: Usage;
}

/** Something the server did for the model. */
export interface ActionItem<Name = string, Arguments = unknown> extends ItemBase {
  type: "action";
  name: Name;
  callId: string;
  status: "running" | "completed" | "failed";
  /** Absent where the model's text was not JSON. */
  arguments?: Arguments;
  durationMs?: number;
  summary: string;
  /** Why it failed, such as `result_missing`; the message is in `events()`. */
  errorCode?: string;
}

/** A client action that waits: an app shows it and answers with `resume()`. */
export interface WaitingClientActionItem<Name = string, Arguments = unknown> extends ItemBase {
  type: "client_action";
  name: Name;
  callId: string;
  status: "waiting";
  arguments: Arguments;
  outcome?: undefined;
  expiresAt?: string;
  summary: string;
}

/** A client action that ended. */
export interface SettledClientActionItem<Name = string> extends ItemBase {
  type: "client_action";
  name: Name;
  callId: string;
  status: "completed" | "failed";
  arguments?: undefined;
  outcome: ClientActionOutcome;
  expiresAt?: string;
  summary: string;
}

/** Something a person or an app does for the model; narrow by `status`. */
export type ClientActionItem<Name = string, Arguments = unknown> =
  | WaitingClientActionItem<Name, Arguments>
  | SettledClientActionItem<Name>;

/** A delegation to another agent; one item however often it is resumed. */
export interface SubagentItem<Name = string> extends ItemBase {
  type: "subagent";
  name: Name;
  callId: string;
  childSessionId: string;
  status: "running" | "waiting" | "paused" | "completed" | "failed";
  usage?: Usage;
  summary: string;
}

/** A skill that the model loaded, or couldn't. */
export interface SkillItem<Name = string> extends ItemBase {
  type: "skill";
  name: Name;
  callId?: string;
  status: "completed" | "failed";
  summary: string;
}

/** A judgement of a run; "completed" where it passed. */
export interface EvaluationItem<Name = string> extends ItemBase {
  type: "evaluation";
  name: Name;
  status: "completed" | "failed";
  metrics: EvaluationMetric[];
  durationMs?: number;
  usage?: Usage;
  summary: string;
}

/** The end of the session. */
export interface SessionCompletedItem extends ItemBase {
  type: "session_completed";
  status: "completed" | "failed";
  summary: string;
}

/** A stored item that could not be read; the rest of the page still comes. */
export interface UnreadableItem extends ItemBase {
  type: "unreadable";
  reason: string;
}

/** An item of a type that this client doesn't know, as a newer server sent it. */
export interface UnknownItem extends ItemBase {
  type: "unknown";
  originalType: string;
  [field: string]: unknown;
}

/** An item as it is stored and travels. */
export type StoredItem =
  | MessageItem
  | ActionItem
  | ClientActionItem
  | SubagentItem
  | SkillItem
  | EvaluationItem
  | SessionCompletedItem
  | UnreadableItem;

export type ItemType = StoredItem["type"];

/** The actions of an agent as items; narrow by `name`. */
export type ActionItemOf<T extends AgentTypes> =
  | { [Name in keyof T["actions"] & string]: ActionItem<Name, ArgumentsOf<T["actions"][Name]>> }[keyof T["actions"] & string]
  | ActionItem<Unlisted>;

/** The client actions of an agent as items; narrow by `name`. */
export type ClientActionItemOf<T extends AgentTypes> =
  | {
      [Name in keyof T["clientActions"] & string]: ClientActionItem<Name, ArgumentsOf<T["clientActions"][Name]>>;
    }[keyof T["clientActions"] & string]
  | ClientActionItem<Unlisted>;

/** One item of an agent's history; narrow by `type`, then by `name`. */
export type HistoryItem<T extends AgentTypes = AnyAgentTypes> =
  | MessageItem
  | ActionItemOf<T>
  | ClientActionItemOf<T>
  | SubagentItem<T["subagents"] | Unlisted>
  | SkillItem<T["skills"] | Unlisted>
  | EvaluationItem<T["evaluations"] | Unlisted>
  | SessionCompletedItem
  | UnreadableItem
  | UnknownItem;

/** Where a page lies in its view. */
export interface PageFields {
  /** The log position that the page was computed at; pass it back to keep turning the same view. */
  throughSequence: number;
  /** 1 is the newest page. */
  page: number;
  pageSize: number;
  /** How many there are as of `throughSequence`. */
  total: number;
  /** Whether an older page exists. */
  hasMore: boolean;
}

/** A page of what to render, oldest item first, with the session as of the request. */
export type SessionHistory<T extends AgentTypes = AnyAgentTypes> = SessionSnapshot<T> & PageFields & { items: HistoryItem<T>[] };

/** An event of a type that this client doesn't know, as a newer server sent it. */
export interface UnknownEvent {
  type: "unknown";
  originalType: string;
  sequence: number;
  timestamp: string;
  data: unknown;
}

/** A page of the canonical log, oldest event first, with the session as of the request. */
export type SessionEvents<T extends AgentTypes = AnyAgentTypes> = SessionSnapshot<T> &
  PageFields & { events: (SessionEvent | UnknownEvent)[] };

const base = { id: v.string(), createdAt: v.string(), updatedAt: v.optional(v.string()) };
const named = { ...base, name: v.string(), summary: v.string() };
const settled = v.picklist(["completed", "failed"]);
const durationMs = v.optional(v.number());

/** An item on the wire. */
export const storedItemSchema = v.variant("type", [
  v.object({
    ...base,
    type: v.literal("message"),
    role: v.picklist(["user", "assistant"]),
    content: v.array(messageContentSchema),
    incomplete: v.optional(v.literal(true)),
    usage: v.optional(usageSchema),
  }),
  v.object({
    ...named,
    type: v.literal("action"),
    callId: v.string(),
    status: v.picklist(["running", "completed", "failed"]),
    arguments: v.optional(v.unknown()),
    durationMs,
    errorCode: v.optional(v.string()),
  }),
  v.object({
    ...named,
    type: v.literal("client_action"),
    callId: v.string(),
    status: v.picklist(["waiting", "completed", "failed"]),
    arguments: v.optional(v.unknown()),
    outcome: v.optional(v.picklist(["answered", "denied", "expired", "cancelled"])),
    expiresAt: v.optional(v.string()),
  }),
  v.object({
    ...named,
    type: v.literal("subagent"),
    callId: v.string(),
    childSessionId: v.string(),
    status: v.picklist(["running", "waiting", "paused", "completed", "failed"]),
    usage: v.optional(usageSchema),
  }),
  v.object({ ...named, type: v.literal("skill"), callId: v.optional(v.string()), status: settled }),
  v.object({
    ...named,
    type: v.literal("evaluation"),
    status: settled,
    metrics: v.array(evaluationMetricSchema),
    durationMs,
    usage: v.optional(usageSchema),
  }),
  v.object({ ...base, type: v.literal("session_completed"), status: settled, summary: v.string() }),
  v.object({ ...base, type: v.literal("unreadable"), reason: v.string() }),
]);

const pageEntries = {
  throughSequence: v.pipe(v.number(), v.integer(), v.minValue(1)),
  page: v.number(),
  pageSize: v.number(),
  total: v.number(),
  hasMore: v.boolean(),
};

/** The wire's history; a newer server's items pass as they are. */
export const sessionHistorySchema = v.looseObject({
  ...snapshotEntries,
  ...pageEntries,
  items: v.array(v.looseObject({ id: v.string(), type: v.string(), createdAt: v.string() })),
});

export const sessionEventsSchema = v.looseObject({
  ...snapshotEntries,
  ...pageEntries,
  events: v.array(v.looseObject({ sequence: v.number(), type: v.string(), timestamp: v.string() })),
});
