import type { StoredSnapshot } from "@orcha/contract";
import { indexed } from "./postgres-text.ts";
import { lookupRows, metadataRows, parentOf, planVersions, type SessionColumns, type VersionPlan } from "./rows.ts";
import type { EventRow, Lease, Receipt, SessionRef, SessionWrite } from "./store.ts";

/** The parts of a session's row that every write sets. */
export const rowColumns = "sequence, item_count, updated_at, status, run_status, snapshot, open_items, due_at, open_positions";

/** The parts that a run moves when it starts and ends. */
export const leaseColumns = "lease_owner, lease_until, lease_fence";

/** The parts that still move where status, run and open items stay as they were. */
export const plainColumns = "sequence, item_count, updated_at, snapshot";

/** The rows of a batch, beside the session's own. */
export interface WriteRows extends VersionPlan {
  events: readonly EventRow[];
  lookups: readonly { lookup: string; position: number }[];
}

/** Everything that a write adds or changes. */
export function rowsOf({ events, versions }: SessionWrite): WriteRows {
  return { events, ...planVersions(versions), lookups: lookupRows(versions) };
}

/** Cuts the rows of a new session into batches of at most `size` rows of each kind. */
export function cutRows(rows: WriteRows, size: number): WriteRows[] {
  const { events, past, kept, added, changed, lookups } = rows;
  const count = Math.ceil(Math.max(events.length, past.length, added.length, lookups.length) / size);
  return Array.from({ length: count }, (_, index) => {
    const [from, to] = [index * size, (index + 1) * size];
    return {
      events: events.slice(from, to),
      past: past.slice(from, to),
      kept: kept.slice(from, to),
      added: added.slice(from, to),
      changed: changed.slice(from, to),
      lookups: lookups.slice(from, to),
    };
  });
}

/** A row of the index of metadata. */
export type Entry = [key: string, value: string];

/** A session's metadata as the index holds it: delegated sessions aren't listed. */
export function metadataEntries(snapshot: StoredSnapshot): Entry[] {
  if (parentOf(snapshot)) return [];
  return metadataRows(snapshot).map(([key, value]) => [indexed(key), indexed(value)]);
}

/** The values that name a session. */
export function nameOf({ tenant, agent, sessionId }: SessionRef): [string, string, string] {
  return [indexed(tenant), indexed(agent), indexed(sessionId)];
}

/** The values that name a receipt. */
export function receiptName(
  { tenant, agent }: Pick<SessionRef, "tenant" | "agent">,
  { operation, sessionId, key }: Pick<Receipt, "operation" | "sessionId" | "key">,
): string[] {
  return [tenant, agent, operation, sessionId, key].map(indexed);
}

/** The values of `rowColumns`. */
export function rowValues({ view }: SessionWrite, row: SessionColumns): unknown[] {
  return [...Object.values(row), view.open.map(({ position }) => position)];
}

/** The values of `leaseColumns`. */
export function leaseValues({ owner, until, fence }: Lease): unknown[] {
  return [owner, until, fence];
}

/** The values of `plainColumns`. */
export function plainValues({ sequence, itemCount, updatedAt, snapshot }: SessionColumns): unknown[] {
  return [sequence, itemCount, updatedAt, snapshot];
}
