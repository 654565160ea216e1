import type {
  AgentTypes,
  AnyAgentTypes,
  HistoryItem,
  ItemFrame,
  MessageContent,
  MessageItem,
  SessionHistory,
  SessionSnapshot,
  SnapshotFrame,
  TailFrame,
  TextFrame,
} from "@orcha/contract";
import { replaceEqualDeep } from "@tanstack/react-query";
import { createIdempotencyKey } from "../idempotency-key.ts";
import type { Failure } from "./failure.ts";

/*
 *   place   0 ………………… start ……………………………… end
 *           │ not loaded │ items: pages, then tail │ sending, streaming
 *           └─ changed: what the tail told of it   └─ next item of the tail
 *
 * Pages are read of one pinned view, so places never shift; what changed since the pin comes from the tail alone.
 */

/** The answer in the making; the item of the answer replaces it. */
export interface StreamingAnswer {
  run: number;
  /** Counts the model's turns in the run, from 0. */
  round: number;
  text: string;
}

/** Whether what is shown is what is: "ended" sessions don't change any more, and "failed" says that `error` must be seen to. */
export type ConnectionState = "connecting" | "live" | "reconnecting" | "ended" | "failed";

/** What a user said that the history doesn't hold yet. */
export interface Sending {
  /** Also its idempotency key: sent again, it is still said once. */
  key: string;
  content: MessageContent[];
  clientCapabilities?: readonly string[];
  createdAt: string;
  /** Its item comes at this place or behind it. */
  from: number;
  /** In the log for sure: the next message of a user is this one, whatever the server made of its content. */
  isLogged?: boolean;
  /** Why it failed, as far as anybody knows: it may have arrived. */
  error?: Failure;
}

/** What is known of a session's history: the part of it that is loaded, and where its tail goes on. Plain data. */
export interface HistoryView<T extends AgentTypes = AnyAgentTypes> {
  /** Oldest first, without holes. */
  items: readonly HistoryItem<T>[];
  /** The first item's place in the history, from 0. */
  start: number;
  snapshot: SessionSnapshot<T>;
  /** The view that pages are read of. Its key tells it from others, also where the cache is a copy, such as another tab's. */
  pin: { key: string; throughSequence: number; pageSize: number; total: number };
  /** Items before `start` that are newer than the pin, by place. */
  changed: Readonly<Record<number, HistoryItem<T>>>;
  /** Everything up to this event was told for sure. */
  sequence: number;
  /** Counts the changes: of two views the higher one is the newer. */
  revision: number;
  connection: ConnectionState;
  /** Why the tail ended. */
  error?: Failure;
  ended?: "completed" | "deleted";
  streaming?: StreamingAnswer;
  /** The last round whose answer has its item. */
  said?: { run: number; round: number };
  older: { isFetching: boolean; error?: Failure };
  sending: readonly Sending[];
  /** Answers to client actions that are on their way, by call id; an error where they failed. */
  answering: Readonly<Record<string, { error?: Failure }>>;
}

/** Opens the view with the newest page. */
export function viewOf<T extends AgentTypes>(page: SessionHistory<T>): HistoryView<T> {
  const { items, throughSequence, pageSize, total, page: _page, hasMore: _hasMore, ...snapshot } = page;
  const isCompleted = page.status === "completed";
  return {
    items,
    start: total - items.length,
    snapshot,
    pin: { key: createIdempotencyKey(), throughSequence, pageSize, total },
    changed: {},
    sequence: throughSequence,
    revision: 0,
    connection: isCompleted ? "ended" : "connecting",
    ...(isCompleted && { ended: "completed" }),
    older: { isFetching: false },
    sending: [],
    answering: {},
  };
}

/** The page before the oldest one that is loaded. */
export function olderPageOf({ start, pin }: Pick<HistoryView, "start" | "pin">): { page: number; pageSize: number; throughSequence: number } {
  const { pageSize, throughSequence, total } = pin;
  return { page: Math.floor((total - start) / pageSize) + 1, pageSize, throughSequence };
}

/** Puts an older page before what is loaded. */
export function withOlder<T extends AgentTypes>(view: HistoryView<T>, items: readonly HistoryItem<T>[]): HistoryView<T> {
  const start = view.start - items.length;
  const current = items.map((item, index) => view.changed[start + index] ?? item);
  return { ...view, start, items: [...current, ...view.items], sending: unsaid(view.sending, current, start) };
}

/** A tail that goes on behind what is loaded: items are missing between. */
export class MissingItems extends Error {
  override readonly message = "items are missing before what the tail tells";
}

/** Moves the view on by a frame. Gives the same view back where nothing changes; throws `MissingItems`. */
export function withFrame<T extends AgentTypes>(view: HistoryView<T>, frame: TailFrame<T>): HistoryView<T> {
  switch (frame.type) {
    case "item":
      return withItem(view, frame);
    case "snapshot":
      return withSnapshot(view, frame);
    case "text":
      return withText(view, frame);
    case "ready":
      return { ...view, connection: "live", sequence: Math.max(view.sequence, frame.sequence) };
    case "end":
      return { ...view, connection: "ended", ended: frame.reason, streaming: undefined };
    default:
      return view;
  }
}

function withItem<T extends AgentTypes>(view: HistoryView<T>, { item, position }: ItemFrame<HistoryItem<T>>): HistoryView<T> {
  const index = position - view.start;
  if (index < 0) return { ...view, changed: { ...view.changed, [position]: item } };
  if (index > view.items.length) throw new MissingItems();
  const known = view.items[index];
  const next = known ? replaceEqualDeep(known, item) : item;
  if (next === known) return view;
  const items = known ? view.items.map((one) => (one === known ? next : one)) : [...view.items, next];
  if (known || item.type !== "message") return { ...view, items };
  if (item.role === "user") return { ...view, items, sending: withoutSaid(view.sending, item.content, position) };
  return { ...view, items, streaming: undefined, said: view.streaming ?? view.said };
}

/** How far a tail may be ahead of what was told for sure: it tells of hundreds of events at once. */
const mostAtOnce = 100;

function withSnapshot<T extends AgentTypes>(view: HistoryView<T>, { snapshot }: SnapshotFrame<SessionSnapshot<T>>): HistoryView<T> {
  // A snapshot may be ahead of the items before it, but not of those that come with the next one.
  const told = view.snapshot.sequence;
  const isTold = view.connection === "live" && told > view.sequence && told - view.sequence <= mostAtOnce;
  return {
    ...view,
    snapshot: replaceEqualDeep(view.snapshot, snapshot),
    sequence: isTold ? told : view.sequence,
    streaming: snapshot.runStatus === "running" ? view.streaming : undefined,
    answering: replaceEqualDeep(view.answering, Object.fromEntries(stillPending(view.answering, snapshot))),
  };
}

function withText<T extends AgentTypes>(view: HistoryView<T>, { run, round, offset, text }: TextFrame): HistoryView<T> {
  const { said, streaming } = view;
  if (view.snapshot.runStatus !== "running") return view;
  if (said && (run < said.run || (run === said.run && round <= said.round))) return view;
  const known = streaming?.run === run && streaming.round === round ? streaming.text : "";
  const next = known.slice(0, offset) + text;
  // After a reconnect the text is told from its beginning, maybe by a server that has less of it.
  return known.startsWith(next) ? view : { ...view, streaming: { run, round, text: next } };
}

/** Shows that a client action is answered, or why that failed, for as long as it waits. */
export function withAnswer<T extends AgentTypes>(view: HistoryView<T>, callId: string, state: { error?: Failure }): HistoryView<T> {
  return { ...view, answering: Object.fromEntries(stillPending({ ...view.answering, [callId]: state }, view.snapshot)) };
}

/** Shows what a user says before the server has it. */
export function withSending<T extends AgentTypes>(view: HistoryView<T>, sending: Omit<Sending, "from">): HistoryView<T> {
  const from = view.start + view.items.length;
  return { ...view, sending: [...view.sending.filter(({ key }) => key !== sending.key), { ...sending, from }] };
}

/** What became of something that was sent: it is in the log, or there is an error. */
export function withOutcome<T extends AgentTypes>(
  view: HistoryView<T>,
  key: string,
  outcome: Pick<Sending, "isLogged" | "error">,
): HistoryView<T> {
  const sending = view.sending.map((one) => (one.key === key ? { ...one, ...outcome } : one));
  return replaceEqualDeep(view, { ...view, sending: unsaid(sending, view.items, view.start) });
}

/**
 * Takes over a view that somebody else wrote, with what was on its way in the one before it. What nobody waits for any more,
 * as when the app was closed meanwhile, may have arrived or not.
 */
export function withUnderWay<T extends AgentTypes>(
  view: HistoryView<T>,
  before: Pick<HistoryView, "sending" | "answering"> = view,
  isUnderWay: (key: string) => boolean,
): HistoryView<T> {
  const given = [...before.sending, ...view.sending].map((one) => (one.error || one.isLogged || isUnderWay(one.key) ? one : { ...one, error: unknownEnd }));
  const sending = unsaid([...new Map(given.map((one) => [one.key, one])).values()], view.items, view.start);
  const answering = stillPending({ ...before.answering, ...view.answering }, view.snapshot).filter(([callId, { error }]) => error ?? isUnderWay(callId));
  const older = { ...view.older, isFetching: false };
  return replaceEqualDeep(view, { ...view, sending, answering: Object.fromEntries(answering), older });
}

const unknownEnd: Failure = { code: "network", message: "nobody waited for the answer", retryable: true };

type Answering = HistoryView["answering"];

function stillPending(answering: Answering, { pendingClientActions }: Pick<SessionSnapshot, "pendingClientActions">): [string, Answering[string]][] {
  return Object.entries(answering).filter(([callId]) => pendingClientActions.some((action) => action.callId === callId));
}

function isSaid(item: HistoryItem): item is MessageItem & HistoryItem {
  return item.type === "message" && item.role === "user";
}

/** What items don't say yet. Where it may stand before them, and is in the log for sure, it isn't shown either. */
function unsaid(sending: readonly Sending[], items: readonly HistoryItem[], start: number): readonly Sending[] {
  let rest: readonly Sending[] = sending.filter(({ isLogged, from }) => !isLogged || from >= start);
  for (const [index, item] of items.entries()) {
    if (isSaid(item)) rest = withoutSaid(rest, item.content, start + index);
  }
  return rest;
}

/** Takes away what a new message of the history says; the rest is to come behind it. */
function withoutSaid(sending: readonly Sending[], content: readonly MessageContent[], position: number): readonly Sending[] {
  const isIt = (one: Sending): boolean => one.from <= position && (one.isLogged === true || wordsOf(one.content) === wordsOf(content));
  const found = sending.find((one) => !one.error && isIt(one)) ?? sending.find(isIt);
  return found ? sending.filter((one) => one !== found).map((one) => ({ ...one, from: Math.max(one.from, position + 1) })) : sending;
}

/** Enough to know a message again, however the server writes the rest of its blocks. */
function wordsOf(content: readonly MessageContent[]): string {
  return JSON.stringify(content.map((block) => (block.type === "text" ? block.text : block.type)));
}
