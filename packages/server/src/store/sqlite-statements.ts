import type Database from "better-sqlite3";
import type { PlacedRow } from "./touched.ts";

/** What a look-up of a session by its full name finds. */
export interface SessionRow {
  key: number;
  sequence: number;
  item_count: number;
  snapshot: string;
  open_items: string;
}

/** The position that a page is pinned to, once for each place in the statement. */
export type Pin = [number, number, number, number];
type Name = [tenant: string, agent: string, id: string];
type Statement<Parameters extends unknown[], Row = unknown> = Database.Statement<Parameters, Row>;

/** Every statement of the hot paths. */
export interface Statements {
  begin: Statement<[]>;
  commit: Statement<[]>;
  rollback: Statement<[]>;
  findSession: Statement<Name, SessionRow>;
  addSession: Statement<unknown[]>;
  moveSession: Statement<unknown[]>;
  addEvent: Statement<[session: number, sequence: number, itemCount: number, body: string]>;
  addItem: Statement<[session: number, position: number, sequence: number, body: string]>;
  addLookup: Statement<[session: number, lookup: string, position: number]>;
  addVersion: Statement<[session: number, position: number, sequence: number, body: string]>;
  keepVersion: Statement<[session: number, position: number]>;
  changeItem: Statement<[sequence: number, body: string, session: number, position: number]>;
  itemAt: Statement<[session: number, position: number], PlacedRow>;
  newestItem: Statement<[session: number, lookup: string], PlacedRow>;
  itemCountAt: Statement<[session: number, sequence: number], number>;
  itemPage: Statement<[...Pin, session: number, start: number, end: number], [number, string]>;
  eventRange: Statement<[session: number, from: number, to: number], [number, string]>;
  addMetadata: Statement<[session: number, key: string, value: string]>;
  dropMetadata: Statement<[session: number]>;
  findReceipt: Statement<[...Name, session: string, key: string], { digest: string; outcome: string; created_at: number }>;
  addReceipt: Statement<unknown[]>;
  dropOldReceipts: Statement<[before: number]>;
  findTombstone: Statement<Name>;
  addTombstone: Statement<[...Name, at: number]>;
  dropSession: Statement<[session: number]>[];
}

/** Prepares every statement once for a connection. */
export function prepareStatements(database: Database.Database): Statements {
  return {
    begin: database.prepare("BEGIN IMMEDIATE"),
    commit: database.prepare("COMMIT"),
    rollback: database.prepare("ROLLBACK"),
    findSession: database.prepare(
      "SELECT key, sequence, item_count, snapshot, open_items FROM sessions WHERE tenant = ? AND agent = ? AND id = ?",
    ),
    addSession: database.prepare(
      `INSERT INTO sessions
         (tenant, agent, id, sequence, item_count, updated_at, status, run_status, delegated, snapshot, open_items)
       VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
    ),
    moveSession: database.prepare(
      `UPDATE sessions SET sequence = ?, item_count = ?, updated_at = ?, status = ?, run_status = ?, snapshot = ?, open_items = ?
       WHERE key = ?`,
    ),
    addEvent: database.prepare("INSERT INTO events VALUES (?, ?, ?, ?)"),
    addItem: database.prepare("INSERT INTO items VALUES (?, ?, ?, ?)"),
    addLookup: database.prepare("INSERT INTO item_lookups VALUES (?, ?, ?)"),
    addVersion: database.prepare("INSERT INTO item_versions VALUES (?, ?, ?, ?)"),
    keepVersion: database.prepare(
      `INSERT INTO item_versions (session, position, sequence, body)
       SELECT session, position, sequence, body FROM items WHERE session = ? AND position = ?`,
    ),
    changeItem: database.prepare(
      "UPDATE items SET sequence = ?, body = ? WHERE session = ? AND position = ?",
    ),
    itemAt: database.prepare(
      "SELECT position, sequence, body FROM items WHERE session = ? AND position = ?",
    ),
    newestItem: database.prepare(
      `SELECT i.position, i.sequence, i.body
       FROM item_lookups l JOIN items i ON i.session = l.session AND i.position = l.position
       WHERE l.session = ? AND l.lookup = ? ORDER BY l.position DESC LIMIT 1`,
    ),
    itemCountAt: database.prepare<[number, number], number>(
      "SELECT item_count FROM events WHERE session = ? AND sequence = ?",
    ).pluck(),
    // One range by primary key; an item that changed after the view is shown as it was.
    itemPage: database.prepare<[...Pin, number, number, number], [number, string]>(
      `SELECT
         CASE WHEN i.sequence <= ? THEN i.sequence ELSE (
           SELECT v.sequence FROM item_versions v
           WHERE v.session = i.session AND v.position = i.position AND v.sequence <= ?
           ORDER BY v.sequence DESC LIMIT 1) END,
         CASE WHEN i.sequence <= ? THEN i.body ELSE (
           SELECT v.body FROM item_versions v
           WHERE v.session = i.session AND v.position = i.position AND v.sequence <= ?
           ORDER BY v.sequence DESC LIMIT 1) END
       FROM items i WHERE i.session = ? AND i.position >= ? AND i.position < ? ORDER BY i.position`,
    ).raw(),
    eventRange: database.prepare<[number, number, number], [number, string]>(
      "SELECT sequence, body FROM events WHERE session = ? AND sequence >= ? AND sequence <= ? ORDER BY sequence",
    ).raw(),
    addMetadata: database.prepare("INSERT INTO session_metadata VALUES (?, ?, ?)"),
    dropMetadata: database.prepare("DELETE FROM session_metadata WHERE session = ?"),
    findReceipt: database.prepare(
      `SELECT digest, outcome, created_at FROM receipts
       WHERE tenant = ? AND agent = ? AND operation = ? AND session_id = ? AND key = ?`,
    ),
    addReceipt: database.prepare(
      `INSERT INTO receipts (tenant, agent, operation, session_id, key, session, digest, outcome, created_at)
       VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)
       ON CONFLICT DO UPDATE SET session = excluded.session, digest = excluded.digest,
         outcome = excluded.outcome, created_at = excluded.created_at
       WHERE created_at < excluded.created_at - ?`,
    ),
    dropOldReceipts: database.prepare("DELETE FROM receipts WHERE created_at < ?"),
    findTombstone: database.prepare("SELECT 1 FROM tombstones WHERE tenant = ? AND agent = ? AND id = ?"),
    addTombstone: database.prepare("INSERT INTO tombstones VALUES (?, ?, ?, ?)"),
    dropSession: [
      "DELETE FROM items WHERE session = ?",
      "DELETE FROM item_lookups WHERE session = ?",
      "DELETE FROM item_versions WHERE session = ?",
      "DELETE FROM events WHERE session = ?",
      "DELETE FROM session_metadata WHERE session = ?",
      "DELETE FROM receipts WHERE session = ?",
      "DELETE FROM sessions WHERE key = ?",
    ].map((sql) => database.prepare(sql)),
  };
}
