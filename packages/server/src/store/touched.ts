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
  const touched = new Map<string, TouchedItem[]>();
  const distinct = rows.length < 2 ? rows : [...new Map(rows.map((row) => [row.position, row])).values()];
  const ordered = distinct.length < 2 ? distinct : distinct.toSorted((left, right) => left.position - right.position);
  for (const { position, sequence, body } of ordered) {
    // Items that a write may change were written by `JSON.stringify` of one.
    const item: StoredItem = JSON.parse(body);
    for (const lookup of lookupsOfItem(item)) {
      const placed = touched.get(lookup);
      if (placed) placed.push({ position, sequence, item });
      else touched.set(lookup, [{ position, sequence, item }]);
    }
  }
  return touched;
}
