import type { StoredSnapshot } from "@orcha/contract";
import { nothingToPublish, ReceiptExists, sessionExists } from "./conflict.ts";
import { lookupRows, metadataRows, parentOf, planVersions, receiptLifetimeMs, sessionColumns, viewOf, type SessionRow } from "./rows.ts";
import type { Statements } from "./sqlite-statements.ts";
import type { Current, Move, Receipt, SessionRef, SessionWrite, VersionRow } from "./store.ts";
import { touchedItems, type PlacedRow } from "./touched.ts";

/** Reads what a write needs to know of a session. */
export function readCurrent(statements: Statements, row: SessionRow, lookups: readonly string[]): Current {
  const view = viewOf(row.snapshot, row.item_count, row.open_items);
  const rows: PlacedRow[] = [];
  for (const { position } of view.open) push(rows, statements.itemAt.get(row.key, position));
  for (const lookup of lookups) push(rows, statements.newestItem.get(row.key, lookup));
  const { lease_owner: owner, lease_until: until, lease_fence: fence } = row;
  return { view, touched: touchedItems(rows), ...(owner === null ? {} : { lease: { owner, until, fence } }) };
}

function push(rows: PlacedRow[], row: PlacedRow | undefined): void {
  if (row) rows.push(row);
}

/** Adds a new session with its first events; inside a transaction. */
export function writeNewSession(statements: Statements, ref: SessionRef, write: SessionWrite): void {
  const { snapshot } = write.view;
  const parent = parentOf(snapshot);
  const name = [ref.tenant, ref.agent, ref.sessionId, parent?.agent ?? null, parent?.sessionId ?? null];
  const columns = sessionColumns(write.view);
  const key = Number(statements.addSession.run(...name, ...Object.values(columns)).lastInsertRowid);
  addMetadata(statements, key, ref, snapshot, columns.updatedAt);
  writeRows(statements, key, ref, write);
}

/** Moves a session on; inside a transaction. */
export function writeSession(
  statements: Statements,
  row: SessionRow,
  ref: SessionRef,
  before: StoredSnapshot,
  write: SessionWrite,
): void {
  const { snapshot } = write.view;
  const columns = sessionColumns(write.view);
  statements.moveSession.run(...Object.values(columns), row.key);
  // The index of metadata is ordered by update, so its rows move with every write.
  if (snapshot.metadata !== before.metadata || columns.updatedAt !== row.updated_at) {
    dropMetadata(statements, ref, before, row.updated_at);
    addMetadata(statements, row.key, ref, snapshot, columns.updatedAt);
  }
  writeRows(statements, row.key, ref, write);
}

function addMetadata(statements: Statements, key: number, ref: SessionRef, snapshot: StoredSnapshot, updatedAt: number): void {
  if (parentOf(snapshot)) return;
  for (const [name, value] of metadataRows(snapshot)) {
    statements.addMetadata.run(ref.tenant, ref.agent, name, value, updatedAt, ref.sessionId, key);
  }
}

function dropMetadata(statements: Statements, ref: SessionRef, snapshot: StoredSnapshot, updatedAt: number): void {
  for (const [name, value] of metadataRows(snapshot)) {
    statements.dropMetadata.run(ref.tenant, ref.agent, name, value, updatedAt, ref.sessionId);
  }
}

function writeRows(statements: Statements, key: number, ref: SessionRef, write: SessionWrite): void {
  if (write.lease) statements.moveLease.run(write.lease.owner, write.lease.until, write.lease.fence, key);
  if (write.endsDraft) statements.dropDraft.run(key);
  if (write.receipt) writeReceipt(statements, key, ref, write.receipt);
  for (const { sequence, itemCount, body } of write.events) statements.addEvent.run(key, sequence, itemCount, body);
  writeVersions(statements, key, write.versions);
}

function writeVersions(statements: Statements, key: number, versions: readonly VersionRow[]): void {
  const { past, kept, added, changed } = planVersions(versions);
  for (const position of kept) statements.keepVersion.run(key, position);
  for (const { position, sequence, body } of past) statements.addVersion.run(key, position, sequence, body);
  for (const { position, sequence, body } of added) statements.addItem.run(key, position, sequence, body);
  for (const { position, sequence, body } of changed) statements.changeItem.run(sequence, body, key, position);
  for (const { lookup, position } of lookupRows(versions)) statements.addLookup.run(key, lookup, position);
}

/** Keeps a receipt beside its session, or on its own where the session isn't known. Throws `ReceiptExists`. */
export function writeReceipt(statements: Statements, key: number, ref: SessionRef, receipt: Receipt): void {
  const { operation, sessionId, digest, outcome, createdAt } = receipt;
  const name = [ref.tenant, ref.agent, operation, sessionId, receipt.key];
  const { changes } = statements.addReceipt.run(...name, key, digest, outcome, createdAt, receiptLifetimeMs);
  if (changes === 0) throw new ReceiptExists();
  // Now and then is enough: an old receipt is never found, it only takes room.
  if (Math.random() < 1 / 256) statements.dropOldReceipts.run(createdAt - receiptLifetimeMs);
}

/** Removes a session and its delegated children, and remembers their ids; inside a transaction. */
export function dropSession(statements: Statements, row: SessionRow, ref: SessionRef, at: number): void {
  const children = statements.children.all(ref.tenant, ref.agent, ref.sessionId);
  for (const child of [{ ...row, agent: ref.agent, id: ref.sessionId }, ...children]) {
    const name: SessionRef = { tenant: ref.tenant, agent: child.agent, sessionId: child.id };
    const snapshot: StoredSnapshot = JSON.parse(child.snapshot);
    dropMetadata(statements, name, snapshot, child.updated_at);
    for (const drop of statements.dropSession) drop.run({ session: child.key });
    statements.addTombstone.run(name.tenant, name.agent, name.sessionId, at);
  }
}

/** Gives a session another name; inside a transaction. Throws `session_exists`. */
export function renameSession(statements: Statements, row: SessionRow | undefined, { from, to }: Move): void {
  if (!row) throw nothingToPublish(from);
  const name = [to.tenant, to.agent, to.sessionId] as const;
  if (statements.findSession.get(...name) || statements.findTombstone.get(...name)) throw sessionExists(to);
  const snapshot: StoredSnapshot = JSON.parse(row.snapshot);
  dropMetadata(statements, from, snapshot, row.updated_at);
  statements.renameSession.run(...name, row.key);
  addMetadata(statements, row.key, to, snapshot, row.updated_at);
}
