import type Database from "better-sqlite3";
import type { SessionRow } from "./rows.ts";
import type { PlacedRow } from "./touched.ts";

type Name = [tenant: string, agent: string, id: string];
type Statement<Parameters extends unknown[], Row = unknown> = Database.Statement<Parameters, Row>;

interface DueValues {
  agents: string;
  now: number;
  limit: number;
}

interface NameRow {
  tenant: string;
  agent: string;
  id: string;
}

interface ChangedRow {
  position: number;
  body: string;
}

/** Every statement of the hot paths. */
export interface Statements {
  begin: Statement<[]>;
  commit: Statement<[]>;
  rollback: Statement<[]>;
  findSession: Statement<Name, SessionRow>;
  readSession: Statement<Name, [key: number, sequence: number, itemCount: number, snapshot: string]>;
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
  itemPage: Statement<[session: number, start: number, session: number, end: number, throughSequence: number], string>;
  pastItemPage: Statement<[shown: number, past: number, session: number, start: number, session: number, end: number], string>;
  changedItems: Statement<[session: number, first: number, session: number, last: number], ChangedRow>;
  changedOlder: Statement<[session: number, lookups: string, first: number, after: number], ChangedRow>;
  itemMadeBy: Statement<[past: number, position: number, session: number, place: number], number>;
  eventRange: Statement<[session: number, from: number, session: number, to: number], string>;
  addMetadata: Statement<[tenant: string, agent: string, key: string, value: string, updatedAt: number, id: string, session: number]>;
  dropMetadata: Statement<[tenant: string, agent: string, key: string, value: string, updatedAt: number, id: string]>;
  renameSession: Statement<[...Name, session: number]>;
  moveLease: Statement<[owner: string | null, until: number, fence: number, session: number]>;
  endLease: Statement<[until: number, session: number, fence: number]>;
  saveDraft: Statement<[session: number, fence: number, body: string]>;
  readDraft: Statement<[session: number], { fence: number; body: string }>;
  dropDraft: Statement<[session: number]>;
  abandoned: Statement<[DueValues], NameRow>;
  expired: Statement<[DueValues], NameRow>;
  children: Statement<[tenant: string, agent: string, id: string], { key: number; agent: string; id: string; snapshot: string; updated_at: number }>;
  findReceipt: Statement<[...Name, session: string, key: string], { digest: string; outcome: string; created_at: number }>;
  addReceipt: Statement<unknown[]>;
  dropOldReceipts: Statement<[before: number]>;
  findTombstone: Statement<Name>;
  addTombstone: Statement<[...Name, at: number]>;
  dropSession: Statement<[{ session: number }]>[];
}

// Two habits of the statements below:
// - (? << 32) | ? is the key of a row: its session, and its number in the session.
// - +? keeps SQLite from planning again for each new value, which costs more than the statement itself.

/** Prepares every statement once for a connection. */
export function prepareStatements(database: Database.Database): Statements {
  return {
    begin: database.prepare("BEGIN IMMEDIATE"),
    commit: database.prepare("COMMIT"),
    rollback: database.prepare("ROLLBACK"),
    findSession: database.prepare(
      `SELECT key, sequence, item_count, updated_at, snapshot, open_items, lease_owner, lease_until, lease_fence
       FROM sessions WHERE tenant = ? AND agent = ? AND id = ?`,
    ),
    // As an array: objects of many columns cost a page more than its look-up.
    readSession: database
      .prepare<Name, [number, number, number, string]>(
        "SELECT key, sequence, item_count, snapshot FROM sessions WHERE tenant = ? AND agent = ? AND id = ?",
      )
      .raw(),
    addSession: database.prepare(
      `INSERT INTO sessions
         (tenant, agent, id, parent_agent, parent_id,
          sequence, item_count, updated_at, status, run_status, snapshot, open_items, due_at)
       VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
    ),
    moveSession: database.prepare(
      `UPDATE sessions SET sequence = ?, item_count = ?, updated_at = ?, status = ?, run_status = ?, snapshot = ?, open_items = ?,
         due_at = ?
       WHERE key = ?`,
    ),
    addEvent: database.prepare("INSERT INTO events VALUES ((? << 32) | ?, ?, ?)"),
    addItem: database.prepare("INSERT INTO items VALUES ((? << 32) | ?, ?, ?)"),
    addLookup: database.prepare("INSERT INTO item_lookups VALUES (?, ?, ?)"),
    addVersion: database.prepare("INSERT INTO item_versions VALUES (?, ?, ?, ?)"),
    keepVersion: database.prepare(
      `INSERT INTO item_versions (session, position, sequence, body)
       SELECT key >> 32, key & 4294967295, sequence, body FROM items WHERE key = ((? << 32) | ?)`,
    ),
    changeItem: database.prepare("UPDATE items SET sequence = ?, body = ? WHERE key = ((? << 32) | ?)"),
    itemAt: database.prepare(
      "SELECT key & 4294967295 AS position, sequence, body FROM items WHERE key = ((? << 32) | ?)",
    ),
    newestItem: database.prepare(
      `SELECT l.position, i.sequence, i.body
       FROM item_lookups l JOIN items i ON i.key = ((l.session << 32) | l.position)
       WHERE l.session = +? AND l.lookup = +? ORDER BY l.position DESC LIMIT 1`,
    ),
    itemCountAt: database
      .prepare<[number, number], number>("SELECT item_count FROM events WHERE key = ((? << 32) | ?)")
      .pluck(),
    // Shorter than asked where an item changed after the view: then the past has to be asked.
    itemPage: database
      .prepare<[number, number, number, number, number], string>(
        `SELECT body FROM items
         WHERE key >= ((+? << 32) | +?) AND key < ((+? << 32) | +?) AND sequence <= +? ORDER BY key`,
      )
      .pluck(),
    pastItemPage: database
      .prepare<[number, number, number, number, number, number], string>(
        `SELECT CASE WHEN i.sequence <= +? THEN i.body ELSE (
           SELECT v.body FROM item_versions v
           WHERE v.session = i.key >> 32 AND v.position = i.key & 4294967295 AND v.sequence <= +?
           ORDER BY v.sequence DESC LIMIT 1) END
         FROM items i WHERE i.key >= ((+? << 32) | +?) AND i.key < ((+? << 32) | +?) ORDER BY i.key`,
      )
      .pluck(),
    changedItems: database.prepare(
      `SELECT key & 4294967295 AS position, body FROM items
       WHERE key >= ((+? << 32) | +?) AND key < ((+? << 32) | +?) ORDER BY key`,
    ),
    changedOlder: database.prepare(
      `SELECT DISTINCT l.position, i.body
       FROM item_lookups l JOIN items i ON i.key = ((l.session << 32) | l.position)
       WHERE l.session = +? AND l.lookup IN (SELECT value FROM json_each(?)) AND l.position < +? AND i.sequence > +?
       ORDER BY l.position`,
    ),
    itemMadeBy: database
      .prepare<[number, number, number, number], number>(
        `SELECT min(sequence) FROM (
           SELECT sequence FROM item_versions WHERE session = ? AND position = ?
           UNION ALL SELECT sequence FROM items WHERE key = ((? << 32) | ?))`,
      )
      .pluck(),
    eventRange: database
      .prepare<[number, number, number, number], string>(
        "SELECT body FROM events WHERE key >= ((+? << 32) | +?) AND key <= ((+? << 32) | +?) ORDER BY key",
      )
      .pluck(),
    addMetadata: database.prepare("INSERT INTO session_metadata VALUES (?, ?, ?, ?, ?, ?, ?)"),
    dropMetadata: database.prepare(
      `DELETE FROM session_metadata
       WHERE tenant = ? AND agent = ? AND key = ? AND value = ? AND updated_at = ? AND id = ?`,
    ),
    renameSession: database.prepare(
      "UPDATE sessions SET tenant = ?, agent = ?, id = ?, lease_owner = NULL, lease_until = 0, lease_fence = 0 WHERE key = ?",
    ),
    moveLease: database.prepare("UPDATE sessions SET lease_owner = ?, lease_until = ?, lease_fence = ? WHERE key = ?"),
    endLease: database.prepare("UPDATE sessions SET lease_until = ? WHERE key = ? AND lease_fence = ?"),
    saveDraft: database.prepare("INSERT OR REPLACE INTO drafts VALUES (?, ?, ?)"),
    readDraft: database.prepare(
      "SELECT d.fence, d.body FROM sessions s JOIN drafts d ON d.session = s.key AND d.fence = s.lease_fence WHERE s.key = ?",
    ),
    dropDraft: database.prepare("DELETE FROM drafts WHERE session = ?"),
    // Each a range of a small index: asked for beside the agents, the table might be walked.
    abandoned: database.prepare(
      `SELECT tenant, agent, id FROM sessions
       WHERE agent IN (SELECT value FROM json_each(@agents))
         AND key IN (SELECT key FROM sessions WHERE lease_until > 0 AND lease_until <= @now)
       LIMIT @limit`,
    ),
    expired: database.prepare(
      `SELECT tenant, agent, id FROM sessions
       WHERE agent IN (SELECT value FROM json_each(@agents))
         AND key IN (SELECT key FROM sessions WHERE due_at IS NOT NULL AND due_at <= @now)
       LIMIT @limit`,
    ),
    children: database.prepare(
      `SELECT key, agent, id, snapshot, updated_at FROM sessions WHERE tenant = ? AND parent_agent = ? AND parent_id = ?`,
    ),
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
    addTombstone: database.prepare("INSERT OR IGNORE INTO tombstones VALUES (?, ?, ?, ?)"),
    dropSession: [
      "DELETE FROM items WHERE key >= (@session << 32) AND key < ((@session + 1) << 32)",
      "DELETE FROM events WHERE key >= (@session << 32) AND key < ((@session + 1) << 32)",
      "DELETE FROM item_lookups WHERE session = @session",
      "DELETE FROM item_versions WHERE session = @session",
      "DELETE FROM receipts WHERE session = @session",
      "DELETE FROM drafts WHERE session = @session",
      "DELETE FROM sessions WHERE key = @session",
    ].map((sql) => database.prepare<[{ session: number }]>(sql)),
  };
}
