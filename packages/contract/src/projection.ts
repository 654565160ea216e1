import type { MessageContent } from "./content.ts";
import type { ClientActionResult, EventOf, MessageCreated, SessionEvent } from "./event.ts";
import type {
  ActionItem,
  ClientActionItem,
  EvaluationItem,
  SettledClientActionItem,
  StoredItem,
  SubagentItem,
} from "./history.ts";
import { isOpen, lookupKey } from "./lookup.ts";

/** An item in its place: positions are 0, 1, 2… in the session, oldest first, and never change. */
export interface PlacedItem {
  position: number;
  item: StoredItem;
}

/**
 * The items that a batch of events may change, by look-up key, oldest first: at least the newest item of each key
 * that `lookupsOf` names, and every open one.
 */
export type Touched = ReadonlyMap<string, readonly PlacedItem[]>;

/** What an event does to the history: without a position, a new item at the end. */
export interface ItemChange {
  position?: number;
  item: StoredItem;
}

/** The error code of an action that the conversation went on without. */
export const resultMissing = "result_missing";

/** Turns one event into the changes of the history. Pure: no clock, no store, no agent. */
export function project(touched: Touched, event: SessionEvent): ItemChange[] {
  const at = { createdAt: event.timestamp };
  switch (event.type) {
    case "message.created":
      return projectMessage(event);
    case "action.requested":
      return [requestAction(touched, event)];
    case "action.completed":
    case "action.failed":
      return finishAction(touched, event);
    case "client_action.requested":
      return requestClientActions(touched, event);
    case "client_action.resolved":
      return settleClientActions(touched, event);
    case "skill.loaded":
    case "skill.failed":
      return [
        {
          item: {
            id: `skill:${event.sequence}`,
            type: "skill",
            ...at,
            name: event.data.name,
            ...(event.data.callId === undefined ? {} : { callId: event.data.callId }),
            status: event.type === "skill.loaded" ? "completed" : "failed",
            summary: sentence(event.data.name, skillState(event)),
          },
        },
      ];
    case "evaluation.completed":
    case "evaluation.failed":
      return [{ item: evaluationItem(event) }];
    case "subagent.initiated":
    case "subagent.resumed":
    case "subagent.completed":
    case "subagent.paused":
    case "subagent.failed":
      return [moveSubagent(touched, event)];
    case "session.completed":
      return [
        {
          item: {
            id: `session-completed:${event.sequence}`,
            type: "session_completed",
            ...at,
            status: event.data.status,
            summary: event.data.summary ?? `session ${event.data.status}.`,
          },
        },
      ];
    default:
      return [];
  }
}

function projectMessage(event: EventOf<"message.created">): ItemChange[] {
  const { data } = event;
  if (data.role === "tool") return [];
  const content = visibleContent(data);
  if (content.length === 0) return [];
  return [
    {
      item: {
        id: `message:${event.sequence}`,
        type: "message",
        createdAt: event.timestamp,
        role: data.role,
        content,
        ...(data.status === "incomplete" ? { incomplete: true } : {}),
        ...(data.role === "assistant" && data.usage !== undefined ? { usage: data.usage } : {}),
      },
    },
  ];
}

/** The blocks of a message that a person sees: text that isn't empty, media and files. */
export function visibleContent(data: MessageCreated): MessageContent[] {
  const visible: MessageContent[] = [];
  if (data.role === "tool") return visible;
  for (const block of data.content) {
    if (block.type === "text" && block.text !== "") visible.push({ type: "text", text: block.text });
    if (block.type === "file") visible.push({ type: "file", filePath: block.filePath, mimeType: block.mimeType });
    if (block.type === "image" || block.type === "video" || block.type === "audio" || block.type === "url") {
      visible.push({ type: block.type, mimeType: block.mimeType, fileUri: block.fileUri });
    }
  }
  return visible;
}

function evaluationItem(event: EventOf<"evaluation.completed"> | EventOf<"evaluation.failed">): EvaluationItem {
  const { name, durationMs } = event.data;
  const judged = event.type === "evaluation.completed" ? event.data : undefined;
  const passed = judged?.status === "passed";
  return {
    id: `evaluation:${event.sequence}`,
    type: "evaluation",
    createdAt: event.timestamp,
    name,
    status: passed ? "completed" : "failed",
    metrics: judged?.metrics ?? [],
    ...(durationMs === undefined ? {} : { durationMs }),
    ...(judged?.usage === undefined ? {} : { usage: judged.usage }),
    summary: sentence(name, passed ? "passed" : "failed"),
  };
}

function requestAction(touched: Touched, event: EventOf<"action.requested">): ItemChange {
  const { callId, name } = event.data;
  return {
    item: {
      id: itemId("action", callId, touched.get(lookupKey("action", callId)), event.sequence),
      type: "action",
      createdAt: event.timestamp,
      name,
      callId,
      status: "running",
      ...(event.data.arguments === undefined ? {} : { arguments: event.data.arguments }),
      summary: sentence(name, "is running"),
    },
  };
}

function finishAction(touched: Touched, event: EventOf<"action.completed"> | EventOf<"action.failed">): ItemChange[] {
  const { callId, name, durationMs } = event.data;
  const placed = touched.get(lookupKey("action", callId));
  const failure = event.type === "action.failed" ? event.data.error.code : undefined;
  const outcome = {
    status: failure === undefined ? ("completed" as const) : ("failed" as const),
    ...(durationMs === undefined ? {} : { durationMs }),
    ...(failure === undefined ? {} : { errorCode: failure }),
  };
  const target = unfinishedAction(placed);
  if (target) {
    const { errorCode: _closed, ...item } = target.item;
    const summary = sentence(item.name, outcomeOfAction(failure));
    return [{ position: target.position, item: { ...item, updatedAt: event.timestamp, ...outcome, summary } }];
  }
  // A call ends in one outcome: the first stands.
  if (placed !== undefined && placed.length > 0) return [];
  const item: ActionItem = {
    id: itemId("action", callId, placed, event.sequence),
    type: "action",
    createdAt: event.timestamp,
    name,
    callId,
    ...outcome,
    summary: sentence(name, outcomeOfAction(failure)),
  };
  return [{ item }];
}

/** The call that a result belongs to: the nearest open one, else the newest if the conversation went on without it. */
export function unfinishedAction(
  placed: readonly PlacedItem[] | undefined,
): { position: number; item: ActionItem } | undefined {
  const open = placed?.findLast((candidate) => isOpen(candidate.item)) ?? placed?.at(-1);
  if (open?.item.type !== "action") return undefined;
  const unfinished = isOpen(open.item) || open.item.errorCode === resultMissing;
  return unfinished ? { position: open.position, item: open.item } : undefined;
}

function requestClientActions(touched: Touched, event: EventOf<"client_action.requested">): ItemChange[] {
  const asked = new Map<string, number>();
  return event.data.calls.map((call) => {
    const lookup = lookupKey("client-action", call.callId);
    const earlier = asked.get(lookup) ?? 0;
    asked.set(lookup, earlier + 1);
    return {
      item: {
        // One turn may ask twice under one id, and each call is an item of its own.
        id:
          earlier === 0
            ? itemId("client-action", call.callId, touched.get(lookup), event.sequence)
            : `client-action:${call.callId}#${event.sequence}.${earlier + 1}`,
        type: "client_action",
        createdAt: event.timestamp,
        name: call.name,
        callId: call.callId,
        status: "waiting",
        arguments: call.arguments ?? {},
        ...(call.expiresAt === undefined ? {} : { expiresAt: call.expiresAt }),
        summary: sentence(call.name, "is waiting for the client"),
      },
    };
  });
}

function settleClientActions(touched: Touched, event: EventOf<"client_action.resolved">): ItemChange[] {
  const settled = new Set<number>();
  return event.data.results.flatMap((result) => {
    const lookup = lookupKey("client-action", result.callId);
    const open = touched.get(lookup)?.findLast(({ position, item }) => isOpen(item) && !settled.has(position));
    if (!open) return [];
    settled.add(open.position);
    return settleClientAction(open, event.timestamp, result);
  });
}

function settleClientAction(open: PlacedItem, timestamp: string, result: ClientActionResult): ItemChange[] {
  if (open.item.type !== "client_action") return [];
  const item: ClientActionItem = open.item;
  const outcome = result.outcome ?? "answered";
  const settled: SettledClientActionItem = {
    id: item.id,
    type: "client_action",
    createdAt: item.createdAt,
    updatedAt: timestamp,
    name: item.name,
    callId: item.callId,
    status: outcome === "answered" ? "completed" : "failed",
    outcome,
    ...(item.expiresAt === undefined ? {} : { expiresAt: item.expiresAt }),
    summary: sentence(item.name, outcome === "answered" ? "completed" : outcome === "expired" ? outcome : `was ${outcome}`),
  };
  return [{ position: open.position, item: settled }];
}

type SubagentEvent = Extract<SessionEvent, { type: `subagent.${string}` }>;

function moveSubagent(touched: Touched, event: SubagentEvent): ItemChange {
  const { callId, agent, sessionId } = event.data;
  const found = touched.get(lookupKey("subagent", sessionId))?.at(-1);
  const status = subagentStatus(event);
  const usage = "usage" in event.data ? event.data.usage : undefined;
  const state = {
    status,
    ...(usage === undefined ? {} : { usage }),
    summary: sentence(agent, status === "completed" || status === "failed" ? status : `is ${status}`),
  };
  if (found?.item.type === "subagent") {
    return { position: found.position, item: { ...found.item, updatedAt: event.timestamp, ...state } };
  }
  const item: SubagentItem = {
    id: itemId("subagent", callId, touched.get(lookupKey("subagent-call", callId)), event.sequence),
    type: "subagent",
    createdAt: event.timestamp,
    name: agent,
    callId,
    childSessionId: sessionId,
    ...state,
  };
  return { item };
}

function subagentStatus(event: SubagentEvent): SubagentItem["status"] {
  switch (event.type) {
    case "subagent.initiated":
    case "subagent.resumed":
      return "running";
    case "subagent.completed":
      return "completed";
    case "subagent.failed":
      return "failed";
    case "subagent.paused":
      return event.data.status === "waiting_for_client_action" ? "waiting" : "paused";
  }
}

function outcomeOfAction(failure: string | undefined): string {
  if (failure === undefined) return "completed";
  return failure === resultMissing ? "got no result" : "failed";
}

function skillState(event: EventOf<"skill.loaded"> | EventOf<"skill.failed">): string {
  if (event.type === "skill.failed") return "could not be loaded";
  return event.data.alreadyLoaded === true ? "was already loaded" : "loaded";
}

/**
 * `action:<callId>`, and with the sequence behind it where an earlier call had the same id, or where the id itself
 * ends like one of those.
 */
function itemId(kind: string, callId: string, placed: readonly PlacedItem[] | undefined, sequence: number): string {
  const reused = (placed !== undefined && placed.length > 0) || /#[\d.]+$/.test(callId);
  return reused ? `${kind}:${callId}#${sequence}` : `${kind}:${callId}`;
}

function sentence(name: string, state: string): string {
  return `${name.replaceAll("_", " ")} ${state}.`;
}
