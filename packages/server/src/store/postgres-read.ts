import type { Statement } from "./postgres-connections.ts";
import { knownItems, type Head } from "./postgres-heads.ts";
import type { PostgresParts } from "./postgres-open.ts";
import type { PageRow } from "./postgres-statements.ts";
import { indexed } from "./postgres-text.ts";
import { pageWindow, pinnedSequence } from "./page.ts";
import { nameOf } from "./postgres-rows.ts";
import { viewOf, type SessionRow } from "./rows.ts";
import type { ChangedItems, ChangeQuery, Lease, PageQuery, SessionRef, StoredPage } from "./store.ts";
import type { PlacedRow } from "./touched.ts";

/** Reads what a write needs to know of a session, in one round trip. */
export async function readHead(
  { connections, statements }: PostgresParts,
  ref: SessionRef,
  lookups: readonly string[],
): Promise<Head | undefined> {
  const found = await connections.query(statements.current, [...nameOf(ref), lookups.map(indexed)]);
  let session: SessionRow | undefined;
  const items: PlacedRow[] = [];
  for (const row of found) {
    if (row.position === null) session = row;
    else items.push(row);
  }
  if (!session) return undefined;
  const { key, snapshot, item_count: itemCount, open_items: openItems, updated_at: updatedAt } = session;
  const lease = leaseOf(session);
  return {
    key,
    view: viewOf(snapshot, itemCount, openItems),
    updatedAt,
    known: knownItems(items),
    size: snapshot.length,
    ...(lease ? { lease } : {}),
  };
}

/** A session's lease, held or run out. */
export function leaseOf({ lease_owner: owner, lease_until: until, lease_fence: fence }: SessionRow): Lease | undefined {
  return owner === null ? undefined : { owner, until, fence };
}

/** Reads a page of items in one round trip. */
export async function readHistoryPage(parts: PostgresParts, ref: SessionRef, query: PageQuery): Promise<StoredPage | undefined> {
  const { throughSequence: pin } = query;
  const { connections, statements } = parts;
  const values = [...nameOf(ref), ...windowValues(query)];
  const [row] =
    pin === undefined
      ? await connections.query(statements.newestItems, values)
      : await connections.query(statements.pastItems, [...values, bounded(pin)]);
  if (!row) return undefined;
  const throughSequence = pinnedSequence(row.sequence, query);
  const total = row.total ?? 0;
  const { start, end } = pageWindow(total, query);
  const bodies =
    linesOf(row.bodies, end - start) ?? (await bodiesOf(parts, statements.itemRows, [row.key, start, end, throughSequence]));
  return { snapshot: row.snapshot, throughSequence, total, start, bodies };
}

/** Reads a page of events in one round trip. */
export async function readEventPage(parts: PostgresParts, ref: SessionRef, query: PageQuery): Promise<StoredPage | undefined> {
  const { connections, statements } = parts;
  const { throughSequence: pin } = query;
  const values = [...nameOf(ref), ...windowValues(query), pin === undefined ? null : bounded(pin)];
  const [row] = await connections.query(statements.eventPage, values);
  if (!row) return undefined;
  const throughSequence = pinnedSequence(row.sequence, query);
  const { start, end } = pageWindow(throughSequence, query);
  const bodies = linesOf(row.bodies, end - start) ?? (await bodiesOf(parts, statements.eventRows, [row.key, start + 1, end]));
  return { snapshot: row.snapshot, throughSequence, total: throughSequence, start, bodies };
}

/** Reads the events `from` to `to` in one round trip, or those of them that make up `maxBytes`. */
export async function readEvents(
  parts: PostgresParts,
  ref: SessionRef,
  { from, to, maxBytes }: { from: number; to: number; maxBytes: number | undefined },
): Promise<readonly string[] | undefined> {
  const { connections, statements } = parts;
  const [row] = await connections.query(statements.eventRange, [...nameOf(ref), from, to, maxBytes ?? null]);
  if (!row) return undefined;
  const { key, bodies, count } = row;
  return linesOf(bodies, count) ?? (await bodiesOf(parts, statements.eventRows, [key, from, from + count - 1]));
}

/** Reads the items that events added or changed, in one round trip. */
export async function readChanged(
  { connections, statements }: PostgresParts,
  ref: SessionRef,
  { after, through, lookups }: ChangeQuery,
): Promise<ChangedItems | undefined> {
  const rows = await connections.query(statements.changed, [...nameOf(ref), after, through, lookups.map(indexed)]);
  const snapshot = rows.find(({ position }) => position === null)?.snapshot;
  if (snapshot === undefined) return undefined;
  const items = rows.flatMap(({ position, body }) => (position === null ? [] : [{ position, body: body ?? "" }]));
  return { snapshot, items: items.sort((left, right) => left.position - right.position) };
}

function windowValues({ page, pageSize }: PageQuery): number[] {
  return [bounded((page - 1) * pageSize), pageSize];
}

/** A page or a view beyond every session is no less so for being nearer: Postgres refuses integers that a number holds. */
function bounded(value: number): number {
  return Math.min(value, Number.MAX_SAFE_INTEGER);
}

/** JSON has no raw newline: another number of lines means a damaged body, and rows have to be asked for. */
function linesOf(bodies: PageRow["bodies"], count: number): string[] | undefined {
  if (bodies === null) return count === 0 ? [] : undefined;
  const lines = bodies.split("\n");
  return lines.length === count ? lines : undefined;
}

async function bodiesOf(
  { connections }: PostgresParts,
  statement: Statement<{ body: string | null }>,
  values: readonly unknown[],
): Promise<string[]> {
  const rows = await connections.query(statement, values);
  return rows.map(({ body }) => body ?? "");
}
