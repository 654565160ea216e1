import { lookupsOfItem, type SessionView } from "@orcha/contract";
import type { Current, Lease, SessionWrite, TouchedItem } from "./store.ts";
import { arrangedItems, readItem, type PlacedRow } from "./touched.ts";

/** A session's row and the newest versions of some of its items, all as of the view's sequence. */
export interface Head {
  key: number;
  view: SessionView;
  /** Milliseconds since 1970. */
  updatedAt: number;
  lease?: Lease;
  /** By position: every open item, and others that writes asked for. */
  known: ReadonlyMap<number, KnownItem>;
  /** The length of the snapshot's JSON. */
  size: number;
}

/** An item and the length of its JSON. */
export interface KnownItem extends TouchedItem {
  size: number;
}

/** How many items a head remembers that are no longer open: a call's late results find theirs there. */
const maxClosed = 32;

/** What a writer finds: every open item, and the newest known one of each look-up key. */
export function currentOf({ view, lease, known }: Head, lookups: readonly string[]): Current {
  const positions = new Set(view.open.map(({ position }) => position));
  for (const position of newestPositions(known, lookups).values()) positions.add(position);
  const items = [...positions].flatMap((position) => known.get(position) ?? []);
  return { view, touched: arrangedItems(items), ...(lease ? { lease } : {}) };
}

/** The newest known position of each look-up key; -1 where no item is known for it. */
export function newestPositions(known: Head["known"], lookups: readonly string[]): Map<string, number> {
  const newest = new Map(lookups.map((lookup) => [lookup, -1]));
  if (newest.size === 0) return newest;
  for (const { position, item } of known.values()) {
    for (const lookup of lookupsOfItem(item)) {
      const before = newest.get(lookup);
      if (before !== undefined && position > before) newest.set(lookup, position);
    }
  }
  return newest;
}

/** Arranges rows as a head holds them. */
export function knownItems(rows: readonly PlacedRow[]): Map<number, KnownItem> {
  return new Map(rows.map((row) => [row.position, { ...readItem(row), size: row.body.length }]));
}

/** The items that a head knows after a write. */
export function knownAfter(before: Head["known"], { view, versions }: SessionWrite): Head["known"] {
  // What no look-up finds never changes.
  const written = versions.filter(({ isNew, lookups }) => !isNew || lookups.length > 0);
  if (written.length === 0) return before;
  const known = new Map(before);
  for (const [position, item] of knownItems(written)) {
    // Last written, last forgotten.
    known.delete(position);
    known.set(position, item);
  }
  const isOpen = new Set(view.open.map(({ position }) => position));
  let closed = known.size - isOpen.size;
  for (const position of known.keys()) {
    if (closed <= maxClosed) break;
    if (isOpen.has(position)) continue;
    known.delete(position);
    closed -= 1;
  }
  return known;
}

/**
 * The sessions that this process wrote last, so that its next write needs no read. A head may be behind the database:
 * the write itself finds out.
 */
export class Heads {
  private readonly held = new Map<string, { head: Head; size: number }>();
  private size = 0;
  private readonly maxCount: number;
  private readonly maxSize: number;

  /** `maxSize` is in characters of JSON. */
  constructor(maxCount = 1000, maxSize = 4_000_000) {
    this.maxCount = maxCount;
    this.maxSize = maxSize;
  }

  get(name: string): Head | undefined {
    return this.held.get(name)?.head;
  }

  set(name: string, head: Head): void {
    this.drop(name);
    let { size } = head;
    for (const item of head.known.values()) size += item.size;
    if (size > this.maxSize / 8) return;
    this.held.set(name, { head, size });
    this.size += size;
    for (const oldest of this.held.keys()) {
      if (this.held.size <= this.maxCount && this.size <= this.maxSize) break;
      this.drop(oldest);
    }
  }

  drop(name: string): void {
    this.size -= this.held.get(name)?.size ?? 0;
    this.held.delete(name);
  }
}
