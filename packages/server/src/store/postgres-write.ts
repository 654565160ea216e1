import type { SessionView, StoredSnapshot } from "@orcha/contract";
import type { Statement } from "./postgres-connections.ts";
import type { Head } from "./postgres-heads.ts";
import type { Tables } from "./postgres-open.ts";
import {
  leaseColumns,
  leaseValues,
  metadataEntries,
  nameOf,
  plainColumns,
  plainValues,
  receiptName,
  rowColumns,
  rowValues,
  type Entry,
  type WriteRows,
} from "./postgres-rows.ts";
import { indexed } from "./postgres-text.ts";
import { parentOf, type SessionColumns } from "./rows.ts";
import type { EventRow, Receipt, SessionRef, SessionWrite, VersionRow } from "./store.ts";

/** A session's metadata, and the update that its rows in the index stand at. */
interface EntriesAt {
  snapshot: StoredSnapshot;
  updatedAt: number;
}

/**
 * Builds one statement that writes a whole batch or nothing: its first part adds or moves the session's row, and all
 * others take their rows from that one. Answers the session's key where it wrote.
 */
export class WriteStatement {
  private readonly tables: Tables;
  private readonly values: unknown[] = [];
  private readonly parts: string[] = [];
  /** Statements of the same parts have the same text: that makes the name. */
  private name = "";

  constructor(tables: Tables) {
    this.tables = tables;
  }

  build(): { statement: Statement<{ key: number }>; values: unknown[] } {
    return { statement: { name: this.name, text: `WITH ${this.parts.join(", ")} SELECT key FROM moved` }, values: this.values };
  }

  /** Adds a session, unless its id is or was taken. */
  addSession(ref: SessionRef, write: SessionWrite, row: SessionColumns): this {
    const parent = parentOf(write.view.snapshot);
    const name = nameOf(ref);
    const givenTenant = name[0] === ref.tenant ? null : ref.tenant;
    const { lease } = write;
    const values = [
      ...name,
      givenTenant,
      parent?.agent ?? null,
      parent?.sessionId ?? null,
      ...rowValues(write, row),
      ...(lease ? leaseValues(lease) : []),
    ];
    return this.part(
      `create${lease ? "-l" : ""}`,
      `moved AS (INSERT INTO ${this.tables("sessions")}
         (tenant, agent, id, given_tenant, parent_agent, parent_id, ${rowColumns}${lease ? `, ${leaseColumns}` : ""})
       VALUES (${values.map((value) => this.bind(value)).join(", ")})
       ON CONFLICT (tenant, agent, id) DO NOTHING RETURNING key)`,
    );
  }

  /**
   * Moves a session on, unless it has moved since the head was read, or its lease has. A head that was held is also
   * wrong where there are newer items under the look-up keys.
   */
  moveSession(head: Head, write: SessionWrite, row: SessionColumns, newest: ReadonlyMap<string, number> = new Map()): this {
    const { key, view, lease } = head;
    const isPlain = isPlainMove(view, write.view);
    const columns = `${isPlain ? plainColumns : rowColumns}${write.lease ? `, ${leaseColumns}` : ""}`;
    const moved = [...(isPlain ? plainValues(row) : rowValues(write, row)), ...(write.lease ? leaseValues(write.lease) : [])];
    const values = moved.map((value) => this.bind(value));
    const conditions = [
      `s.key = ${this.bind(key)}`,
      `s.sequence = ${this.bind(view.snapshot.sequence)}`,
      `s.lease_fence = ${this.bind(lease?.fence ?? 0)}`,
      `s.lease_until = ${this.bind(lease?.until ?? 0)}`,
    ];
    const unused = [...newest].filter(([, position]) => position === -1);
    const used = [...newest].filter(([, position]) => position !== -1);
    if (unused.length > 0) conditions.push(this.noItem(unused));
    if (used.length > 0) {
      // Says no too often where older items lie between the newest of two keys: that costs a read, no more.
      const positions = used.map(([, position]) => position);
      const newer = `l.position > ${this.bind(Math.min(...positions))} AND l.position <> ALL (${this.bind(positions)}::integer[])`;
      conditions.push(this.noItem(used, newer));
    }
    return this.part(
      `move${isPlain ? "-s" : ""}${write.lease ? "-l" : ""}${unused.length > 0 ? "-u" : ""}${used.length > 0 ? "-o" : ""}`,
      `moved AS (UPDATE ${this.tables("sessions")} s SET (${columns}) = ROW (${values.join(", ")})
       WHERE ${conditions.join(" AND ")} RETURNING s.key)`,
    );
  }

  /** Takes the key of a session that the same transaction wrote before. */
  session(key: number): this {
    return this.part("more", `moved AS (SELECT ${this.bind(key)}::bigint AS key)`);
  }

  /** Adds everything that hangs on the session's row. */
  rows({ events, past, kept, added, changed, lookups }: WriteRows): this {
    if (events.length > 0) this.addEvents(events);
    if (kept.length > 0) {
      // Every part sees the tables as they were before the statement.
      this.part(
        "-k",
        `kept AS (INSERT INTO ${this.tables("item_versions")} (session, position, sequence, body)
         SELECT i.session, i.position, i.sequence, i.body
         FROM moved JOIN ${this.tables("items")} i ON i.session = moved.key AND i.position = ANY (${this.bind(kept)}::integer[]))`,
      );
    }
    if (past.length > 0) this.addVersions("-p", "item_versions", past);
    if (added.length > 0) this.addVersions("-a", "items", added);
    if (changed.length > 0) {
      this.part(
        "-c",
        `changed AS (UPDATE ${this.tables("items")} i SET sequence = c.sequence, body = c.body
         FROM moved, ${this.unnestVersions(changed)} AS c (position, sequence, body)
         WHERE i.session = moved.key AND i.position = c.position)`,
      );
    }
    return lookups.length > 0 ? this.addLookups(lookups) : this;
  }

  /** Keeps the receipt. A second one of the same key makes the whole statement fail. */
  receipt(ref: SessionRef, receipt: Receipt | undefined): this {
    if (!receipt) return this;
    const { digest, outcome, createdAt } = receipt;
    const values = [...receiptName(ref, receipt), digest, outcome, createdAt].map((value) => this.bind(value));
    return this.part(
      "-r",
      `receipts AS (INSERT INTO ${this.tables("receipts")}
         (session, tenant, agent, operation, session_id, key, digest, outcome, created_at)
       SELECT moved.key, ${values.join(", ")} FROM moved)`,
    );
  }

  /** Takes the stored answer in the making back. */
  draft({ endsDraft = false }: SessionWrite): this {
    if (!endsDraft) return this;
    return this.part("-d", `drafts AS (DELETE FROM ${this.tables("drafts")} d USING moved WHERE d.session = moved.key)`);
  }

  /** Moves the session's rows in the index of metadata, which is ordered by update. */
  metadata(ref: SessionRef, before: EntriesAt | undefined, after: EntriesAt): this {
    const isSameTime = before?.updatedAt === after.updatedAt;
    if (isSameTime && before.snapshot.metadata === after.snapshot.metadata) return this;
    const old = before ? metadataEntries(before.snapshot) : [];
    const fresh = metadataEntries(after.snapshot);
    const dropped = isSameTime ? without(old, fresh) : old;
    const added = isSameTime ? without(fresh, old) : fresh;
    const table = this.tables("session_metadata");
    if (before && dropped.length > 0) {
      const [tenant, agent, id] = nameOf(ref).map((value) => this.bind(value));
      this.part(
        "-n",
        `dropped AS (DELETE FROM ${table} m USING moved, ${this.unnestEntries(dropped)} AS old (key, value)
         WHERE m.tenant = ${tenant} AND m.agent = ${agent} AND m.key = old.key AND m.value = old.value
           AND m.updated_at = ${this.bind(before.updatedAt)} AND m.id = ${id})`,
      );
    }
    if (added.length > 0) {
      const values = [...nameOf(ref), after.updatedAt].map((value) => this.bind(value));
      this.part(
        "-m",
        `entries AS (INSERT INTO ${table} (session, tenant, agent, id, updated_at, key, value)
         SELECT moved.key, ${values.join(", ")}, fresh.* FROM moved, ${this.unnestEntries(added)} AS fresh)`,
      );
    }
    return this;
  }

  /** The condition that no item is found by these keys. */
  private noItem(lookups: readonly (readonly [lookup: string, position: number])[], condition = "true"): string {
    const keys = this.bind(lookups.map(([lookup]) => indexed(lookup)));
    return `NOT EXISTS (SELECT 1 FROM ${this.tables("item_lookups")} l
      WHERE l.session = s.key AND l.lookup = ANY (${keys}::text[]) AND ${condition})`;
  }

  private addEvents(events: readonly EventRow[]): void {
    const before = this.bind((events[0]?.sequence ?? 1) - 1);
    const counts = this.bind(events.map(({ itemCount }) => itemCount));
    this.part(
      "-e",
      `events AS (INSERT INTO ${this.tables("events")} (session, sequence, item_count, body)
       SELECT moved.key, ${before}::integer + e.place, e.item_count, e.body
       FROM moved, ROWS FROM (unnest(${counts}::integer[]), ${this.texts(events)}) WITH ORDINALITY e (item_count, body, place))`,
    );
  }

  private addLookups(lookups: WriteRows["lookups"]): this {
    const positions = this.bind(lookups.map(({ position }) => position));
    const keys = this.bind(lookups.map(({ lookup }) => indexed(lookup)));
    return this.part(
      "-l",
      `lookups AS (INSERT INTO ${this.tables("item_lookups")} (session, position, lookup)
       SELECT moved.key, l.* FROM moved, unnest(${positions}::integer[], ${keys}::text[]) l)`,
    );
  }

  private addVersions(name: string, table: string, versions: readonly VersionRow[]): this {
    return this.part(
      name,
      `new_${table} AS (INSERT INTO ${this.tables(table)} (session, position, sequence, body)
       SELECT moved.key, v.* FROM moved, ${this.unnestVersions(versions)} v)`,
    );
  }

  private unnestVersions(versions: readonly VersionRow[]): string {
    const positions = this.bind(versions.map(({ position }) => position));
    const sequences = this.bind(versions.map(({ sequence }) => sequence));
    return `ROWS FROM (unnest(${positions}::integer[]), unnest(${sequences}::integer[]), ${this.texts(versions)})`;
  }

  /** Bodies as rows: one text with a line each is cheaper for both ends than an array, and JSON has no raw newline. */
  private texts(rows: readonly { body: string }[]): string {
    return `string_to_table(${this.bind(rows.map(({ body }) => body).join("\n"))}::text, chr(10))`;
  }

  private unnestEntries(entries: readonly Entry[]): string {
    const keys = this.bind(entries.map(([key]) => key));
    const values = this.bind(entries.map(([, value]) => value));
    return `unnest(${keys}::text[], ${values}::text[])`;
  }

  private part(name: string, sql: string): this {
    this.name += name;
    this.parts.push(sql);
    return this;
  }

  private bind(value: unknown): string {
    this.values.push(value);
    return `$${this.values.length}`;
  }
}

/** Most writes only move the counters, the time and the snapshot. */
function isPlainMove(before: SessionView, after: SessionView): boolean {
  if ([before, after].some(({ open, judging }) => open.length > 0 || judging.length > 0)) return false;
  return before.snapshot.status === after.snapshot.status && before.snapshot.runStatus === after.snapshot.runStatus;
}

function without(entries: readonly Entry[], others: readonly Entry[]): Entry[] {
  return entries.filter(([key, value]) => !others.some((other) => other[0] === key && other[1] === value));
}
