import type { SessionEvent } from "./event.ts";
import type { StoredItem } from "./history.ts";

/** The key of the items that belong to a call, or of the subagent item that belongs to a child session. */
export function lookupKey(kind: "action" | "client-action" | "subagent" | "subagent-call", id: string): string {
  // JSON's escapes keep every id distinct and storable, NUL and lone surrogates included.
  return `${kind}:${JSON.stringify(id).slice(1, -1)}`;
}

/** The keys of the items that an event may change or must know. */
export function lookupsOf(event: Pick<SessionEvent, "type" | "data">): string[] {
  const { type, data } = event as SessionEvent;
  switch (type) {
    case "action.requested":
    case "action.completed":
    case "action.failed":
      return [lookupKey("action", data.callId)];
    case "client_action.requested":
      return data.calls.map((call) => lookupKey("client-action", call.callId));
    case "client_action.resolved":
      return data.results.map((result) => lookupKey("client-action", result.callId));
    case "subagent.initiated":
    case "subagent.resumed":
    case "subagent.completed":
    case "subagent.paused":
    case "subagent.failed":
      return [lookupKey("subagent", data.sessionId), lookupKey("subagent-call", data.callId)];
    default:
      return [];
  }
}

/** The keys under which later events find an item. */
export function lookupsOfItem(item: StoredItem): string[] {
  switch (item.type) {
    case "action":
      return [lookupKey("action", item.callId)];
    case "client_action":
      return [lookupKey("client-action", item.callId)];
    case "subagent":
      return [lookupKey("subagent", item.childSessionId), lookupKey("subagent-call", item.callId)];
    default:
      return [];
  }
}

/** Tells whether a later event may still finish the item. */
export function isOpen(item: StoredItem): boolean {
  switch (item.type) {
    case "action":
      return item.status === "running";
    case "client_action":
      return item.status === "waiting";
    case "subagent":
      return item.status === "running" || item.status === "waiting" || item.status === "paused";
    default:
      return false;
  }
}
