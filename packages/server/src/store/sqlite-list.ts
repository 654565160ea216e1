import type Database from "better-sqlite3";
import { metadataColumns } from "./sqlite-write.ts";
import type { ListQuery } from "./store.ts";

/** Reads one page of snapshots along the index of updates, newest first. */
export function listSessions(database: Database.Database, query: ListQuery): string[] {
  const conditions = ["s.tenant = ?", "s.agent = ?", "s.delegated = 0"];
  const values: (string | number)[] = [query.tenant, query.agent];
  function where(condition: string, ...bound: (string | number)[]): void {
    conditions.push(condition);
    values.push(...bound);
  }
  if (query.status !== undefined) where("s.status = ?", query.status);
  if (query.runStatus !== undefined) where("s.run_status = ?", query.runStatus);
  for (const [name, value] of Object.entries(query.metadata ?? {})) {
    const columns = metadataColumns(name, value);
    where("EXISTS (SELECT 1 FROM session_metadata m WHERE m.session = s.key AND m.key = ? AND m.value = ?)", ...columns);
  }
  if (query.after) {
    const { updatedAt, sessionId } = query.after;
    where("(s.updated_at < ? OR (s.updated_at = ? AND s.id > ?))", updatedAt, updatedAt, sessionId);
  }
  const sql = `SELECT s.snapshot FROM sessions s WHERE ${conditions.join(" AND ")} ORDER BY s.updated_at DESC, s.id LIMIT ?`;
  return database
    .prepare<(string | number)[], string>(sql)
    .pluck()
    .all(...values, query.limit);
}
