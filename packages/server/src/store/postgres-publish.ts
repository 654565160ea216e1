import type { StoredSnapshot } from "@orcha/contract";
import { nothingToPublish, sessionExists } from "./conflict.ts";
import type { Query } from "./postgres-connections.ts";
import { isNameTaken } from "./postgres-errors.ts";
import type { PostgresParts, Tables } from "./postgres-open.ts";
import { metadataEntries, nameOf } from "./postgres-rows.ts";
import type { Move } from "./store.ts";

interface RenamedRow {
  key: number;
  updated_at: number;
  snapshot: string;
}

/** Renames sessions in one transaction. The table's own key refuses names that are or were taken: `session_exists`. */
export async function publishSessions({ connections, tables }: PostgresParts, moves: readonly Move[]): Promise<void> {
  await connections.transaction(async (query) => {
    for (const move of moves) await rename(query, tables, move);
  });
}

async function rename(query: Query, tables: Tables, { from, to }: Move): Promise<void> {
  const names = [...nameOf(from), ...nameOf(to)];
  const [session] = await query<RenamedRow>(
    {
      text: `UPDATE ${tables("sessions")}
        SET tenant = $4, agent = $5, id = $6, given_tenant = $7, lease_owner = NULL, lease_until = 0, lease_fence = 0
        WHERE tenant = $1 AND agent = $2 AND id = $3 AND deleted_at IS NULL RETURNING key, updated_at, snapshot`,
    },
    [...names, names[3] === to.tenant ? null : to.tenant],
  ).catch((error: unknown) => {
    throw isNameTaken(error) ? sessionExists(to) : error;
  });
  if (!session) throw nothingToPublish(from);
  const snapshot: StoredSnapshot = JSON.parse(session.snapshot);
  const entries = metadataEntries(snapshot);
  if (entries.length === 0) return;
  await query(
    {
      text: `UPDATE ${tables("session_metadata")} m SET tenant = $4, agent = $5, id = $6
        FROM unnest($8::text[], $9::text[]) AS entry (key, value)
        WHERE m.tenant = $1 AND m.agent = $2 AND m.id = $3 AND m.updated_at = $7
          AND m.key = entry.key AND m.value = entry.value`,
    },
    [...names, session.updated_at, entries.map(([name]) => name), entries.map(([, value]) => value)],
  );
}
