import { lookupsOfItem, type StoredItem } from "@orcha/contract";
import type { TouchedItem } from "./store.ts";

/** An item as it is stored, with its place and the event that made its newest version. */
export interface PlacedRow {
  position: number;
  sequence: number;
  body: string;
}

/** Arranges stored items by the keys that find them, oldest first; a row given twice counts once. */
export function touchedItems(rows: readonly PlacedRow[]): Map<string, TouchedItem[]> {
  const distinct = rows.length < 2 ? rows : [...new Map(rows.map((row) => [row.position, row])).values()];
  return arrangedItems(distinct.map(readItem));
}

/** Reads an item that a write may change. */
export function readItem({ position, sequence, body }: PlacedRow): TouchedItem {
  // Such items were written by `JSON.stringify` of one.
  const item: StoredItem = JSON.parse(body);
  return { position, sequence, item };
}

/** Arranges distinct items by the keys that find them, oldest first. */
export function arrangedItems(items: readonly TouchedItem[]): Map<string, TouchedItem[]> {
  const touched = new Map<string, TouchedItem[]>();
  const ordered = items.length < 2 ? items : items.toSorted((left, right) => left.position - right.position);
  for (const placed of ordered) {
    for (const lookup of lookupsOfItem(placed.item)) {
      const known = touched.get(lookup);
      if (known) known.push(placed);
      else touched.set(lookup, [placed]);
    }
  }
  return touched;
}
