import type { StoredSnapshot } from "@orcha/contract";
import { checkCondition } from "./condition.ts";
import type { Query, Statement } from "./postgres-connections.ts";
import type { PostgresParts, Tables } from "./postgres-open.ts";
import { metadataEntries, nameOf } from "./postgres-rows.ts";
import { viewOf } from "./rows.ts";
import type { SessionRef, WriteCondition } from "./store.ts";

/** How many rows one statement removes, so that each ends in time. */
const batch = 50_000;

interface DoomedRow {
  key: number;
  agent: string;
  id: string;
  sequence: number;
  item_count: number;
  updated_at: number;
  snapshot: string;
  open_items: string;
  deleted_at: number | null;
}

/** Removes a session and its delegated children, and leaves their emptied rows. Answers false where there never was one. */
export async function deleteSession(
  { connections, tables }: PostgresParts,
  ref: SessionRef,
  at: number,
  condition: Pick<WriteCondition, "expectedSequence"> | undefined,
): Promise<boolean> {
  return connections.transaction(async (query) => {
    // Locked: what is being appended comes before, and is removed with the rest.
    const [session] = await query(doomed(tables, "agent = $2 AND id = $3"), nameOf(ref));
    if (!session) return false;
    if (session.deleted_at !== null) return true;
    checkCondition({ view: viewOf(session.snapshot, session.item_count, session.open_items), touched: new Map() }, condition);
    const children = await query(doomed(tables, "parent_agent = $2 AND parent_id = $3 AND deleted_at IS NULL"), nameOf(ref));
    for (const family of [session, ...children]) await empty(query, tables, nameOf(ref)[0], family, at);
    return true;
  });
}

function doomed(tables: Tables, condition: string): Statement<DoomedRow> {
  return {
    text: `SELECT key, agent, id, sequence, item_count, updated_at, snapshot, open_items, deleted_at
      FROM ${tables("sessions")} WHERE tenant = $1 AND ${condition} ORDER BY key FOR UPDATE`,
  };
}

async function empty(query: Query, tables: Tables, tenant: string, row: DoomedRow, at: number): Promise<void> {
  const { key, agent, id, sequence, item_count: itemCount, updated_at: updatedAt } = row;
  async function remove(table: string, number: string, last: number): Promise<void> {
    for (let from = 0; from <= last; from += batch) {
      const text = `DELETE FROM ${tables(table)} WHERE session = $1 AND ${number} >= $2 AND ${number} < $3`;
      await query({ text }, [key, from, from + batch]);
    }
  }
  await remove("events", "sequence", sequence);
  await remove("item_versions", "position", itemCount);
  await remove("items", "position", itemCount);
  await query({ text: `DELETE FROM ${tables("item_lookups")} WHERE session = $1` }, [key]);
  await query({ text: `DELETE FROM ${tables("receipts")} WHERE session = $1` }, [key]);
  await query({ text: `DELETE FROM ${tables("drafts")} WHERE session = $1` }, [key]);
  const snapshot: StoredSnapshot = JSON.parse(row.snapshot);
  const entries = metadataEntries(snapshot);
  await query(
    {
      text: `DELETE FROM ${tables("session_metadata")} m USING unnest($5::text[], $6::text[]) AS old (key, value)
        WHERE m.tenant = $1 AND m.agent = $2 AND m.id = $3 AND m.updated_at = $4 AND m.key = old.key AND m.value = old.value`,
    },
    [tenant, agent, id, updatedAt, entries.map(([name]) => name), entries.map(([, value]) => value)],
  );
  await query(
    {
      text: `UPDATE ${tables("sessions")} SET deleted_at = $2, sequence = 0, item_count = 0, snapshot = '', open_items = '[]',
          open_positions = '{}', status = '', run_status = NULL, lease_owner = NULL, lease_until = 0, due_at = NULL
        WHERE key = $1`,
    },
    [key, at],
  );
}
