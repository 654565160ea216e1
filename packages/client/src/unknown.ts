import type { EventType, HistoryItem, ItemType, SessionEvents, UnknownEvent, UnknownItem } from "@orcha/contract";

// `satisfies` holds both lists to the contract: a type that is missing, or one too many, doesn't compile.
const itemTypes = {
  message: true,
  action: true,
  client_action: true,
  subagent: true,
  skill: true,
  evaluation: true,
  session_completed: true,
  unreadable: true,
} satisfies Record<ItemType, true>;

const eventTypes = {
  "session.created": true,
  "session.updated": true,
  "session.paused": true,
  "session.resumed": true,
  "session.completed": true,
  "run.started": true,
  "run.paused": true,
  "run.completed": true,
  "run.failed": true,
  "run.stopped": true,
  "message.created": true,
  "action.requested": true,
  "action.completed": true,
  "action.failed": true,
  "client_action.requested": true,
  "client_action.resolved": true,
  "skill.requested": true,
  "skill.loaded": true,
  "skill.failed": true,
  "evaluation.requested": true,
  "evaluation.completed": true,
  "evaluation.failed": true,
  "subagent.initiated": true,
  "subagent.resumed": true,
  "subagent.completed": true,
  "subagent.paused": true,
  "subagent.failed": true,
} satisfies Record<EventType, true>;

/** Marks an item whose type this client doesn't know, keeping all its fields. */
export function markUnknownItem(item: HistoryItem): HistoryItem {
  if (Object.hasOwn(itemTypes, item.type)) return item;
  return { ...item, type: "unknown", originalType: item.type } satisfies UnknownItem;
}

/** Marks an event whose type this client doesn't know, keeping its data. */
export function markUnknownEvent(event: SessionEvents["events"][number]): SessionEvents["events"][number] {
  if (Object.hasOwn(eventTypes, event.type)) return event;
  const { type, sequence, timestamp, data } = event;
  return { type: "unknown", originalType: type, sequence, timestamp, data } satisfies UnknownEvent;
}
