import type { SessionEvent } from "./event.ts";
import { isOpen, lookupsOfItem } from "./lookup.ts";
import { project, type PlacedItem, type Touched } from "./projection.ts";
import { openSnapshot, projectSnapshot, type StoredSnapshot } from "./snapshot.ts";

/** An item that later events may still finish, as the session remembers it. */
export interface OpenItem {
  type: "action" | "client_action" | "subagent";
  position: number;
  callId: string;
  name: string;
  /** Of a subagent. */
  childSessionId?: string;
}

/** An evaluation that was asked for and has no outcome yet. */
export interface OpenEvaluation {
  name: string;
  run?: number;
  attempt: number;
  /** ISO time by which a server that is alive has said the outcome. */
  expiresAt: string;
}

/** Everything that a session needs to remember between two batches of events. */
export interface SessionView {
  snapshot: StoredSnapshot;
  itemCount: number;
  open: readonly OpenItem[];
  /** Without those that nobody said an end for. */
  judging: readonly OpenEvaluation[];
}

/** One written version of an item. */
export interface ItemVersion extends PlacedItem {
  /** The event that made this version. */
  sequence: number;
  isNew: boolean;
}

/** What a batch of events does to a session. */
export interface Advance {
  view: SessionView;
  /** In the order of the events; an item may appear several times. */
  versions: ItemVersion[];
  /** The item count after each event. */
  itemCounts: number[];
}

/** Moves a session's view on by a batch. Without a view the first event must be `session.created`. */
export function advance(start: SessionView | undefined, touched: Touched, events: readonly SessionEvent[]): Advance {
  const items = new Map([...touched].map(([lookup, placed]) => [lookup, [...placed]]));
  const open = new Map(start?.open.map((entry) => [entry.position, entry]));
  const versions: ItemVersion[] = [];
  const itemCounts: number[] = [];
  let judging = start?.judging ?? [];
  let snapshot = start?.snapshot;
  let itemCount = start?.itemCount ?? 0;
  for (const event of events) {
    if (snapshot) snapshot = projectSnapshot(snapshot, event);
    else if (event.type === "session.created") snapshot = openSnapshot(event);
    else throw new TypeError(`a log starts with session.created, not ${event.type}`);
    for (const change of project(items, event)) {
      const isNew = change.position === undefined;
      const version: ItemVersion = { ...change, position: change.position ?? itemCount, sequence: event.sequence, isNew };
      if (isNew) itemCount += 1;
      versions.push(version);
      remember(items, open, version);
    }
    judging = stillJudging(judging, event);
    itemCounts.push(itemCount);
  }
  if (!snapshot) throw new TypeError("a batch without a session has no view");
  return { view: { snapshot, itemCount, open: [...open.values()], judging }, versions, itemCounts };
}

/** The first outcome of an evaluation is the one that counts, whichever attempt it is of. */
function stillJudging(judging: readonly OpenEvaluation[], event: SessionEvent): readonly OpenEvaluation[] {
  if (event.type !== "evaluation.requested" && event.type !== "evaluation.completed" && event.type !== "evaluation.failed") return judging;
  const { run } = event;
  const { name } = event.data;
  const others = judging.filter((known) => known.name !== name || known.run !== run);
  if (event.type !== "evaluation.requested" || event.data.expiresAt === undefined) return others;
  const { expiresAt, attempt = 1 } = event.data;
  return [...others, { name, ...(run === undefined ? {} : { run }), attempt, expiresAt }];
}

function remember(items: Map<string, PlacedItem[]>, open: Map<number, OpenItem>, version: ItemVersion): void {
  const { position, item } = version;
  for (const lookup of lookupsOfItem(item)) {
    const placed = items.get(lookup) ?? [];
    items.set(lookup, placed);
    keep(placed, version);
  }
  const { type } = item;
  if ((type === "action" || type === "client_action" || type === "subagent") && isOpen(item)) {
    const child = type === "subagent" ? { childSessionId: item.childSessionId } : {};
    open.set(position, { type, position, callId: item.callId, name: item.name, ...child });
  } else open.delete(position);
}

/** Keeps what a later event may need, the open items and the newest, so that an id costs the same however often it is used. */
function keep(placed: PlacedItem[], { position, item, isNew }: ItemVersion): void {
  const newest = placed.at(-1);
  if (isNew) {
    if (newest && !isOpen(newest.item)) placed.pop();
    placed.push({ position, item });
    return;
  }
  const index = placed.findLastIndex((known) => known.position === position);
  if (index === -1) placed.push({ position, item });
  else if (index < placed.length - 1 && !isOpen(item)) placed.splice(index, 1);
  else placed[index] = { position, item };
}
