import { addUsage } from "./usage.ts";
import type { EventOf, SessionEvent } from "./event.ts";
import { visibleContent } from "./projection.ts";
import { pendingOf, type PendingClientAction, type SessionSnapshot } from "./session.ts";

/** A snapshot as it is stored: names and arguments are whatever the log holds. */
export type StoredSnapshot = Omit<SessionSnapshot, "pendingClientActions" | "metadata"> & {
  metadata: Record<string, string | number | boolean | null>;
  pendingClientActions: PendingClientAction[];
};

/** Opens a session's snapshot with its first event. */
export function openSnapshot(event: EventOf<"session.created">): StoredSnapshot {
  const { sessionId, agent, name, metadata, lineage } = event.data;
  return {
    sessionId,
    agent,
    ...(name === undefined ? {} : { name }),
    status: "active",
    metadata,
    createdAt: event.timestamp,
    updatedAt: event.timestamp,
    pendingClientActions: [],
    ...(lineage === undefined ? {} : { lineage }),
    sequence: event.sequence,
  };
}

/** Moves a snapshot on by one event. Pure: the given snapshot stays as it was. */
export function projectSnapshot(snapshot: StoredSnapshot, event: SessionEvent): StoredSnapshot {
  const next: StoredSnapshot = { ...snapshot, updatedAt: event.timestamp, sequence: event.sequence };
  switch (event.type) {
    case "session.updated":
      update(next, event);
      break;
    case "session.paused":
      next.status = "paused";
      if (isUnderWay(next)) next.runStatus = "paused";
      break;
    case "session.resumed":
      next.status = "active";
      if (next.runStatus === "paused" && next.pendingClientActions.length > 0) next.runStatus = "waiting_for_client_action";
      break;
    case "session.completed":
      next.status = "completed";
      if (isUnderWay(next)) next.runStatus = "stopped";
      break;
    case "run.started":
      next.runStatus = "running";
      delete next.lastError;
      break;
    case "run.paused":
      next.runStatus = event.data.status === "waiting_for_client_action" ? "waiting_for_client_action" : "paused";
      if (event.data.usage) next.usage = event.data.usage;
      break;
    case "run.completed":
      next.runStatus = "completed";
      if (event.data.usage) next.usage = event.data.usage;
      break;
    case "run.failed":
      next.runStatus = "failed";
      next.lastError = event.data.error;
      if (event.data.usage) next.usage = event.data.usage;
      break;
    case "run.stopped":
      next.runStatus = "stopped";
      if (event.data.usage) next.usage = event.data.usage;
      break;
    case "message.created":
      if (event.data.role === "assistant") hear(next, event);
      break;
    case "client_action.requested":
      next.pendingClientActions = [...next.pendingClientActions, ...event.data.calls.map(pendingOf)];
      next.runStatus = "waiting_for_client_action";
      break;
    case "client_action.resolved":
      for (const { callId } of event.data.results) next.pendingClientActions = without(next.pendingClientActions, callId);
      if (next.runStatus === "waiting_for_client_action" && next.pendingClientActions.length === 0) next.runStatus = "running";
      break;
    case "subagent.initiated":
    case "subagent.resumed":
      next.runStatus = "waiting_for_subagent";
      break;
    case "subagent.completed":
    case "subagent.paused":
    case "subagent.failed":
      if (next.runStatus === "waiting_for_subagent") next.runStatus = "running";
      break;
    default:
  }
  return next;
}

function isUnderWay({ runStatus }: StoredSnapshot): boolean {
  return (
    runStatus === "running" ||
    runStatus === "waiting_for_client_action" ||
    runStatus === "waiting_for_subagent" ||
    runStatus === "paused"
  );
}

function update(next: StoredSnapshot, event: EventOf<"session.updated">): void {
  const { name, metadata, unset } = event.data;
  if (name === null) delete next.name;
  else if (name !== undefined) next.name = name;
  if (metadata === undefined && unset === undefined) return;
  next.metadata = { ...next.metadata, ...metadata };
  for (const key of unset ?? []) delete next.metadata[key];
}

/** Takes over what an assistant message says last: its structured output, else its text. */
function hear(next: StoredSnapshot, event: EventOf<"message.created">): void {
  const total = addUsage(next.totalUsage, event.data.usage);
  if (total) next.totalUsage = total;
  if (event.data.parsedOutput !== undefined) {
    next.lastOutput = event.data.parsedOutput;
    return;
  }
  const texts = visibleContent(event.data).flatMap((block) => (block.type === "text" ? [block.text] : []));
  if (texts.length > 0) next.lastOutput = texts.join("");
}

function without(pending: PendingClientAction[], callId: string): PendingClientAction[] {
  const index = pending.findLastIndex((call) => call.callId === callId);
  return index === -1 ? pending : pending.toSpliced(index, 1);
}
