import type { PlacedItem, RunStatus, SessionStatus, SessionView } from "@orcha/contract";
import type { OnNews } from "./news.ts";

/*
 * What a store keeps, and how the tables hang together:
 *
 *   sessions (tenant, agent, id) ──▶ integer key, counters, snapshot, open items
 *      ├── events         (key, sequence)             the log; each row knows the item count after it
 *      ├── items          (key, position)             the newest version of each history item
 *      ├── item versions  (key, position, sequence)   the earlier ones, for pinned pages
 *      ├── item look-ups  (key, look-up, position)    which items later events may change
 *      ├── receipts       of writes that carried an idempotency key
 *      └── draft          the answer in the making, as far as it was last kept
 *
 * Everything but the session row is reached through a look-up of all three parts of its name.
 */

/** The full name of a session; no store call works without the tenant. */
export interface SessionRef {
  tenant: string;
  agent: string;
  sessionId: string;
}

/** An event as it is stored: the wire's JSON. */
export interface EventRow {
  sequence: number;
  /** How many history items there are after this event. */
  itemCount: number;
  body: string;
}

/** One version of a history item as it is stored: the wire's JSON, made by the event of that sequence. */
export interface VersionRow {
  position: number;
  sequence: number;
  isNew: boolean;
  /** The keys that find a new item. */
  lookups: readonly string[];
  body: string;
}

/** An item that a write may change, and the event that made its newest version. */
export interface TouchedItem extends PlacedItem {
  sequence: number;
}

/** A session as a write finds it: its view, every open item, and the newest item of each look-up key asked for. */
export interface Current {
  view: SessionView;
  touched: ReadonlyMap<string, readonly TouchedItem[]>;
  /** Held, or run out. */
  lease?: Lease;
}

/** A run's right to write, until it ends. */
export interface Lease {
  /** The process that runs. */
  owner: string;
  /** Milliseconds since 1970. */
  until: number;
  /** Counts the owners: what an earlier one still writes is refused. */
  fence: number;
}

/** A lease that somebody asks for. */
export interface WantedLease extends Omit<Lease, "fence"> {
  /** Milliseconds since 1970. */
  now: number;
  /** The fence of the lease that is to go on: one that has ended stays so. */
  renews?: number;
}

/** What must hold for a write, and is checked in its transaction. */
export interface WriteCondition {
  /** Else `sequence_conflict`. */
  expectedSequence?: number;
  /** The fence of the run that writes; else `session_busy`. */
  fence?: number;
}

/** Names one write of one caller: the key belongs to the operation and the session. */
export interface ReceiptKey {
  operation: string;
  /** Empty where the server makes the session's id. */
  sessionId: string;
  key: string;
}

/** What a finished write answered, a refusal included: ids and sequences, never content. */
export interface Receipt extends ReceiptKey {
  /** SHA-256 of the canonical input. */
  digest: string;
  /** JSON. */
  outcome: string;
  /** Milliseconds since 1970. */
  createdAt: number;
}

/** Everything that one write changes; a store applies all of it in one transaction or nothing. */
export interface SessionWrite {
  view: SessionView;
  events: readonly EventRow[];
  versions: readonly VersionRow[];
  receipt?: Receipt;
  /** The lease after the write: taken, kept, or let go of with an `until` of 0. Without it the lease stays as it is. */
  lease?: Lease;
  /** Takes the answer in the making back: with this write the log has it. */
  endsDraft?: boolean;
}

/** What a writer makes of the session that it found: no write leaves everything as it was. */
export interface Decision<T> {
  write?: SessionWrite;
  result: T;
}

/** Which page, of which view. */
export interface PageQuery {
  /** 1 is the newest. */
  page: number;
  pageSize: number;
  /** The log position of the view; the newest one by default. */
  throughSequence?: number;
}

/** Stored JSON of a page, oldest first, and of the session's snapshot as of the request. */
export interface StoredPage {
  snapshot: string;
  throughSequence: number;
  total: number;
  /** The place of the first one: an item's position, or one less than an event's sequence. */
  start: number;
  bodies: readonly string[];
}

/** Which sessions to list; every filter must match exactly. */
export interface ListQuery {
  tenant: string;
  agent: string;
  status?: SessionStatus;
  runStatus?: RunStatus;
  metadata?: Readonly<Record<string, string | number | boolean | null>>;
  /** Goes on behind this session. */
  after?: ListPosition;
  limit: number;
}

/** A place in the list: newest update first, ties by id. */
export interface ListPosition {
  /** Milliseconds since 1970. */
  updatedAt: number;
  sessionId: string;
}

/** The text of an answer that a run is still writing, or was writing when its lease of that fence ran out. */
export interface Draft {
  fence: number;
  /** JSON. */
  body: string;
}

/**
 * Which sessions wait for a server to do something: runs whose lease has run out without being let go of, or client
 * actions and evaluations whose time is over.
 */
export interface DueQuery {
  what: "abandoned" | "expired";
  agents: readonly string[];
  /** Milliseconds since 1970. */
  now: number;
  limit: number;
}

/** Which items changed by the events behind `after`, up to `through`. */
export interface ChangeQuery {
  after: number;
  through: number;
  /** The look-up keys of those events: what they may have changed of older items. */
  lookups: readonly string[];
}

/** Items that changed, oldest place first, each as it is now. */
export interface ChangedItems {
  snapshot: string;
  items: readonly { position: number; body: string }[];
}

/** Gives a session another name, with everything that it has. */
export interface Move {
  from: SessionRef;
  to: SessionRef;
}

/**
 * Keeps sessions. Reads answer `undefined` for a session that is unknown under that tenant and agent.
 * Failures of the store itself are `OrchaError`s with code `storage_error`.
 */
export interface Store {
  /** Adds a session. Throws `session_exists` where the id is or was taken, `ReceiptExists` as `append` does. */
  create(ref: SessionRef, write: SessionWrite): Promise<void>;
  /** Reads a session's view, its open items and the newest item of each look-up key. */
  read(ref: SessionRef, lookups: readonly string[]): Promise<Current | undefined>;
  /**
   * Lets `decide` write on top of the session as it is, with no other write between. `decide` is pure, may be called
   * again, and may throw to leave everything as it was. Throws `sequence_conflict` or `session_busy` before, where the
   * condition doesn't hold.
   */
  append<T>(
    ref: SessionRef,
    lookups: readonly string[],
    decide: (current: Current) => Decision<T>,
    condition?: WriteCondition,
  ): Promise<{ result: T } | undefined>;
  /** Reads the snapshot's JSON. */
  snapshot(ref: SessionRef): Promise<string | undefined>;
  /** Reads one page of history items. Throws `invalid_input` where `throughSequence` lies in the future. */
  historyPage(ref: SessionRef, query: PageQuery): Promise<StoredPage | undefined>;
  /** Reads one page of events. Throws as `historyPage` does. */
  eventPage(ref: SessionRef, query: PageQuery): Promise<StoredPage | undefined>;
  /** Reads the events `from` to `to`, both included; with `maxBytes` no more than up to the one that reaches so many, which is at least one. */
  events(ref: SessionRef, from: number, to: number, maxBytes?: number): Promise<readonly string[] | undefined>;
  /** Reads the items that events added or changed, as they are now, and the snapshot. */
  changed(ref: SessionRef, query: ChangeQuery): Promise<ChangedItems | undefined>;
  /** Tells of sessions that change, here or in other processes: a hint, which may be lost. Answers how to leave. */
  listen(onNews: OnNews): () => void;
  /** Tells which event made the item at a position: the name of an item that can't be read. */
  itemMadeBy(ref: SessionRef, position: number): Promise<number | undefined>;
  /** Lists snapshots' JSON, newest update first. */
  list(query: ListQuery): Promise<readonly string[]>;
  /**
   * Removes a session and its delegated children with all they have, and leaves tombstones. Answers false where there
   * never was one. Throws `sequence_conflict` where the condition doesn't hold.
   */
  delete(ref: SessionRef, at: number, condition?: Pick<WriteCondition, "expectedSequence">): Promise<boolean>;
  /**
   * Renames sessions in one transaction, all or none, without their leases: what was put together under names that
   * nobody reads appears whole. Throws `session_exists` where a new name is or was taken, `session_not_found` where an
   * old one is unknown.
   */
  publish(moves: readonly Move[]): Promise<void>;
  /**
   * Takes the lease where it is free or has run out, with a new fence, or renews the owner's own. Throws `session_busy`
   * where another owner holds it, and where what it `renews` has ended.
   */
  takeLease(ref: SessionRef, lease: WantedLease): Promise<Lease | undefined>;
  /**
   * Lets go of the lease, if the fence is still its own. Left "for others" it counts as run out at once: whoever looks
   * for what is due goes on with the run.
   */
  releaseLease(ref: SessionRef, fence: number, left?: "for others"): Promise<void>;
  /** Keeps the answer in the making; false where the fence is no longer the session's. */
  saveDraft(ref: SessionRef, draft: Draft): Promise<boolean>;
  /** Reads the answer in the making, or what the last lease's run has left of one: an earlier lease's counts no more. */
  draft(ref: SessionRef): Promise<Draft | undefined>;
  /** Finds sessions that wait for a server. */
  due(query: DueQuery): Promise<readonly SessionRef[]>;
  /** Keeps the receipt of a write that was refused for good. Throws `ReceiptExists` as `append` does. */
  keepReceipt(ref: SessionRef, receipt: Receipt): Promise<void>;
  /** Finds the receipt of an earlier write that is no older than `since`. */
  findReceipt(ref: Omit<SessionRef, "sessionId">, key: ReceiptKey, since: number): Promise<Receipt | undefined>;
  /** Lets go of files and connections. */
  close(): Promise<void>;
}
