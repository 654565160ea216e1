import { metadataRows } from "./rows.ts";
import type { ListQuery } from "./store.ts";

/** A statement, and the values of its placeholders in order. */
export interface BoundSql {
  sql: string;
  values: (string | number)[];
}

/** How a database writes the list's statement. */
export interface ListDialect {
  /** The placeholder of the value at an index from 1 on. */
  placeholder: (index: number) => string;
  /** What to read in place of a table. */
  table: (name: "sessions" | "session_metadata") => string;
  /** A text as the index of metadata holds it. */
  indexed: (text: string) => string;
}

/**
 * Builds the list of sessions: along the index of one metadata entry where one is asked for, else along the index of
 * updates. Either gives the rows in order, so that a page costs its length.
 */
export function listSql(query: ListQuery, { placeholder, table, indexed }: ListDialect): BoundSql {
  const values: (string | number)[] = [];
  function bind(value: string | number): string {
    values.push(value);
    return placeholder(values.length);
  }
  const entries = metadataRows({ metadata: query.metadata ?? {} });
  const [first, ...others] = entries.map(([key, value]) => [indexed(key), indexed(value)] as const);
  const source = first ? "m" : "s";
  const conditions = [`${source}.tenant = ${bind(query.tenant)}`, `${source}.agent = ${bind(query.agent)}`];
  if (first) conditions.push(`m.key = ${bind(first[0])}`, `m.value = ${bind(first[1])}`);
  else conditions.push("s.parent_id IS NULL");
  if (query.after) {
    const { updatedAt, sessionId } = query.after;
    // The first half is the start of the range, the second leaves out what the page before has shown of that moment.
    conditions.push(`${source}.updated_at <= ${bind(updatedAt)}`);
    conditions.push(`(${source}.updated_at < ${bind(updatedAt)} OR ${source}.id > ${bind(sessionId)})`);
  }
  if (query.status !== undefined) conditions.push(`s.status = ${bind(query.status)}`);
  if (query.runStatus !== undefined) conditions.push(`s.run_status = ${bind(query.runStatus)}`);
  for (const [key, value] of others) {
    conditions.push(
      `EXISTS (SELECT 1 FROM ${table("session_metadata")} o
        WHERE o.tenant = s.tenant AND o.agent = s.agent AND o.key = ${bind(key)} AND o.value = ${bind(value)}
          AND o.updated_at = s.updated_at AND o.id = s.id)`,
    );
  }
  const from = first
    ? `${table("session_metadata")} m JOIN ${table("sessions")} s ON s.key = m.session`
    : `${table("sessions")} s`;
  const sql = `SELECT s.snapshot FROM ${from} WHERE ${conditions.join(" AND ")}
    ORDER BY ${source}.updated_at DESC, ${source}.id LIMIT ${bind(query.limit)}`;
  return { sql, values };
}
