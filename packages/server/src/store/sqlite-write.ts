import type { OpenItem, SessionView, StoredSnapshot } from "@orcha/contract";
import { ReceiptExists } from "./conflict.ts";
import type { SessionRow, Statements } from "./sqlite-statements.ts";
import type { Current, Receipt, SessionRef, SessionWrite, VersionRow } from "./store.ts";
import { touchedItems, type PlacedRow } from "./touched.ts";

/** How long a receipt answers for its write, in milliseconds: 24 hours. */
export const receiptLifetimeMs = 86_400_000;

/** Reads what a write needs to know of a session. */
export function readCurrent(statements: Statements, row: SessionRow, lookups: readonly string[]): Current {
  // Both columns hold what `sessionColumns` wrote.
  const snapshot: StoredSnapshot = JSON.parse(row.snapshot);
  const open: OpenItem[] = row.open_items === "[]" ? [] : JSON.parse(row.open_items);
  const rows: PlacedRow[] = [];
  for (const { position } of open) push(rows, statements.itemAt.get(row.key, position));
  for (const lookup of lookups) push(rows, statements.newestItem.get(row.key, lookup));
  return { view: { snapshot, itemCount: row.item_count, open }, touched: touchedItems(rows) };
}

function push(rows: PlacedRow[], row: PlacedRow | undefined): void {
  if (row) rows.push(row);
}

/** Adds a new session with its first events; inside a transaction. */
export function writeNewSession(statements: Statements, ref: SessionRef, write: SessionWrite): void {
  const [sequence, itemCount, updatedAt, status, runStatus, snapshot, open] = sessionColumns(write.view);
  const delegated = write.view.snapshot.lineage?.origin === "delegated" ? 1 : 0;
  const name = [ref.tenant, ref.agent, ref.sessionId];
  const moved = [sequence, itemCount, updatedAt, status, runStatus, delegated, snapshot, open];
  const key = Number(statements.addSession.run(...name, ...moved).lastInsertRowid);
  writeMetadata(statements, key, write.view.snapshot);
  writeRows(statements, key, ref, write);
}

/** Moves a session on; inside a transaction. */
export function writeSession(
  statements: Statements,
  key: number,
  ref: SessionRef,
  before: StoredSnapshot,
  write: SessionWrite,
): void {
  statements.moveSession.run(...sessionColumns(write.view), key);
  if (write.view.snapshot.metadata !== before.metadata) {
    statements.dropMetadata.run(key);
    writeMetadata(statements, key, write.view.snapshot);
  }
  writeRows(statements, key, ref, write);
}

type SessionColumns = [number, number, number, string, string | null, string, string];

function sessionColumns({ snapshot, itemCount, open }: SessionView): SessionColumns {
  return [
    snapshot.sequence,
    itemCount,
    Date.parse(snapshot.updatedAt),
    snapshot.status,
    snapshot.runStatus ?? null,
    JSON.stringify(snapshot),
    open.length === 0 ? "[]" : JSON.stringify(open),
  ];
}

function writeMetadata(statements: Statements, key: number, { metadata }: StoredSnapshot): void {
  for (const [name, value] of Object.entries(metadata)) statements.addMetadata.run(key, ...metadataColumns(name, value));
}

/** A metadata entry as its index holds it: JSON, so that every key and value is storable and types stay apart. */
export function metadataColumns(name: string, value: string | number | boolean | null): [string, string] {
  return [JSON.stringify(name), JSON.stringify(value)];
}

function writeRows(statements: Statements, key: number, ref: SessionRef, write: SessionWrite): void {
  if (write.receipt) writeReceipt(statements, key, ref, write.receipt);
  for (const { sequence, itemCount, body } of write.events) statements.addEvent.run(key, sequence, itemCount, body);
  writeVersions(statements, key, write.versions);
}

/** Only the last version of an item goes to the items; the others of the batch go straight to its past. */
function writeVersions(statements: Statements, key: number, versions: readonly VersionRow[]): void {
  const last = new Map<number, VersionRow>();
  const fresh = new Set<number>();
  for (const version of versions) {
    const earlier = last.get(version.position);
    if (earlier) statements.addVersion.run(key, earlier.position, earlier.sequence, earlier.body);
    else if (version.isNew) {
      fresh.add(version.position);
      for (const lookup of version.lookups) statements.addLookup.run(key, lookup, version.position);
    } else statements.keepVersion.run(key, version.position);
    last.set(version.position, version);
  }
  for (const { position, sequence, body } of last.values()) {
    if (fresh.has(position)) statements.addItem.run(key, position, sequence, body);
    else statements.changeItem.run(sequence, body, key, position);
  }
}

function writeReceipt(statements: Statements, key: number, ref: SessionRef, receipt: Receipt): void {
  const { operation, sessionId, digest, outcome, createdAt } = receipt;
  const name = [ref.tenant, ref.agent, operation, sessionId, receipt.key];
  const { changes } = statements.addReceipt.run(...name, key, digest, outcome, createdAt, receiptLifetimeMs);
  if (changes === 0) throw new ReceiptExists();
  // Now and then is enough: an old receipt is never found, it only takes room.
  if (Math.random() < 1 / 256) statements.dropOldReceipts.run(createdAt - receiptLifetimeMs);
}
