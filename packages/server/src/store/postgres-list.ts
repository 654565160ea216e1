import { listSql, type ListDialect } from "./list-sql.ts";
import type { PostgresParts } from "./postgres-open.ts";
import { indexed } from "./postgres-text.ts";
import type { ListQuery } from "./store.ts";

/** How many metadata filters the prepared forms of the list have. */
const maxNamed = 2;

/** Reads snapshots, newest update first. */
export async function listSnapshots({ connections, tables }: PostgresParts, query: ListQuery): Promise<string[]> {
  const dialect: ListDialect = {
    placeholder: (index) => `$${index}`,
    table: (name) => (name === "sessions" ? `(SELECT * FROM ${tables(name)} WHERE deleted_at IS NULL)` : tables(name)),
    indexed,
  };
  const named = { ...query, tenant: indexed(query.tenant), agent: indexed(query.agent) };
  const { after } = query;
  const { sql, values } = listSql(after ? { ...named, after: { ...after, sessionId: indexed(after.sessionId) } } : named, dialect);
  const rows = await connections.query<{ snapshot: string }>({ ...nameOf(query), text: sql }, values);
  return rows.map(({ snapshot }) => snapshot);
}

/** The name of a form of the list. The usual ones are kept prepared, which each connection has to pay for. */
function nameOf({ metadata = {}, status, runStatus, after }: ListQuery): { name?: string } {
  const entries = Object.keys(metadata).length;
  if (entries > maxNamed) return {};
  return { name: `list-${entries}${status ? "-s" : ""}${runStatus ? "-r" : ""}${after ? "-a" : ""}` };
}
