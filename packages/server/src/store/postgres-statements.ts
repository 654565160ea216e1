import type { Statement } from "./postgres-connections.ts";
import type { Tables } from "./postgres-open.ts";
import type { SessionRow } from "./rows.ts";

/** The session's own row, or an item's: one statement reads both. */
export type CurrentRow = (SessionRow & { position: null }) | { position: number; sequence: number; body: string };

/** A page in one row: bodies in one text, a line each. */
export interface PageRow {
  key: number;
  sequence: number;
  snapshot: string;
  total: number | null;
  bodies: string | null;
}

/** The statements whose text is always the same. */
export type Statements = ReturnType<typeof postgresStatements>;

/** Writes every fixed statement once for a schema; `$1, $2, $3` name the session. */
export function postgresStatements(tables: Tables) {
  const sessions = tables("sessions");
  const items = tables("items");
  const events = tables("events");
  const versions = tables("item_versions");
  const lookups = tables("item_lookups");
  const receipts = tables("receipts");
  const drafts = tables("drafts");
  const named = "tenant = $1 AND agent = $2 AND id = $3 AND deleted_at IS NULL";
  const itemAsOf = (sequence: string) => `CASE WHEN i.sequence <= ${sequence} THEN i.body ELSE (
    SELECT v.body FROM ${versions} v
    WHERE v.session = i.session AND v.position = i.position AND v.sequence <= ${sequence}
    ORDER BY v.sequence DESC LIMIT 1) END`;

  function statement<Row extends object>(name: string, text: string): Statement<Row> {
    return { name, text };
  }

  return {
    findSession: statement<SessionRow>(
      "find",
      `SELECT key, sequence, item_count, updated_at, snapshot, open_items, lease_owner, lease_until, lease_fence
       FROM ${sessions} WHERE ${named}`,
    ),
    /** $4: look-up keys. */
    current: statement<CurrentRow>(
      "current",
      `WITH s AS MATERIALIZED (SELECT * FROM ${sessions} WHERE ${named})
       SELECT key, sequence, item_count, updated_at, snapshot, open_items, lease_owner, lease_until, lease_fence,
         NULL::integer AS position, NULL AS body
       FROM s
       UNION ALL
       SELECT NULL, i.sequence, NULL, NULL, NULL, NULL, NULL, NULL, NULL, i.position, i.body
       FROM s JOIN ${items} i ON i.session = s.key AND i.position = ANY (s.open_positions)
       UNION ALL
       SELECT NULL, i.sequence, NULL, NULL, NULL, NULL, NULL, NULL, NULL, i.position, i.body
       FROM s CROSS JOIN unnest($4::text[]) AS wanted (lookup)
       CROSS JOIN LATERAL (
         SELECT l.position FROM ${lookups} l WHERE l.session = s.key AND l.lookup = wanted.lookup
         ORDER BY l.position DESC LIMIT 1) newest
       JOIN ${items} i ON i.session = s.key AND i.position = newest.position`,
    ),
    snapshot: statement<{ snapshot: string }>("snapshot", `SELECT snapshot FROM ${sessions} WHERE ${named}`),
    /** $4: how many newer ones to leave out; $5: how many to take. */
    newestItems: statement<PageRow>(
      "newest-items",
      `SELECT s.key, s.sequence, s.snapshot, s.item_count AS total, (
         SELECT string_agg(i.body, chr(10) ORDER BY i.position) FROM ${items} i
         WHERE i.session = s.key AND i.position >= s.item_count - $4::bigint - $5::bigint
           AND i.position < s.item_count - $4::bigint) AS bodies
       FROM ${sessions} s WHERE ${named}`,
    ),
    /** $4, $5 as above; $6: the log position of the view. */
    pastItems: statement<PageRow>(
      "past-items",
      `SELECT s.key, s.sequence, s.snapshot, pin.item_count AS total, (
         SELECT string_agg(${itemAsOf("$6::bigint")}, chr(10) ORDER BY i.position) FROM ${items} i
         WHERE i.session = s.key AND i.position >= pin.item_count - $4::bigint - $5::bigint
           AND i.position < pin.item_count - $4::bigint) AS bodies
       FROM ${sessions} s LEFT JOIN ${events} pin ON pin.session = s.key AND pin.sequence = $6::bigint
       WHERE ${named}`,
    ),
    /** $4, $5, $6 as above; without $6, the newest view. */
    eventPage: statement<PageRow>(
      "event-page",
      `SELECT s.key, s.sequence, s.snapshot, s.item_count AS total, (
         SELECT string_agg(e.body, chr(10) ORDER BY e.sequence) FROM ${events} e
         WHERE e.session = s.key AND e.sequence > coalesce($6::bigint, s.sequence) - $4::bigint - $5::bigint
           AND e.sequence <= coalesce($6::bigint, s.sequence) - $4::bigint) AS bodies
       FROM ${sessions} s WHERE ${named}`,
    ),
    /** $4, $5: the first and the last event; $6: how many bytes before an event leave it out. A length is known without the text. */
    eventRange: statement<Pick<PageRow, "key" | "bodies"> & { count: number }>(
      "event-range",
      `SELECT s.key, e.bodies, e.count FROM ${sessions} s CROSS JOIN LATERAL (
         SELECT string_agg(body, chr(10) ORDER BY sequence) AS bodies, count(*)::integer AS count
         FROM (
           SELECT body, sequence,
             sum(coalesce(octet_length(body), 0)) OVER (ORDER BY sequence) - coalesce(octet_length(body), 0) AS before
           FROM ${events} WHERE session = s.key AND sequence >= $4::bigint AND sequence <= $5::bigint) ranged
         WHERE $6::bigint IS NULL OR before < $6::bigint) e
       WHERE ${named}`,
    ),
    /** Of the session with key $1: the items from $2 to before $3, as of $4. */
    itemRows: statement<{ body: string | null }>(
      "item-rows",
      `SELECT ${itemAsOf("$4")} AS body FROM ${items} i
       WHERE i.session = $1 AND i.position >= $2 AND i.position < $3 ORDER BY i.position`,
    ),
    /** Of the session with key $1: the events $2 to $3. */
    eventRows: statement<{ body: string | null }>(
      "event-rows",
      `SELECT e.body FROM ${events} e WHERE e.session = $1 AND e.sequence >= $2 AND e.sequence <= $3 ORDER BY e.sequence`,
    ),
    /** $4: the event before; $5: the last event; $6: look-up keys. */
    changed: statement<{ snapshot: string; position: number | null; body: string | null }>(
      "changed",
      `WITH s AS MATERIALIZED (
         SELECT key, snapshot,
           coalesce((SELECT e.item_count FROM ${events} e WHERE e.session = key AND e.sequence = $4::integer), 0) AS first,
           coalesce((SELECT e.item_count FROM ${events} e WHERE e.session = key AND e.sequence = $5::integer), 0) AS last
         FROM ${sessions} WHERE ${named})
       SELECT snapshot, NULL::integer AS position, NULL AS body FROM s
       UNION ALL
       SELECT NULL, i.position, i.body
       FROM s JOIN ${items} i ON i.session = s.key AND i.position >= s.first AND i.position < s.last
       UNION ALL
       SELECT NULL, i.position, i.body
       FROM s CROSS JOIN LATERAL (
         SELECT DISTINCT l.position FROM unnest($6::text[]) AS wanted (lookup)
         JOIN ${lookups} l ON l.session = s.key AND l.lookup = wanted.lookup AND l.position < s.first) older
       JOIN ${items} i ON i.session = s.key AND i.position = older.position AND i.sequence > $4::integer`,
    ),
    itemMadeBy: statement<{ sequence: number | null }>(
      "item-made-by",
      `SELECT coalesce(
         (SELECT min(v.sequence) FROM ${versions} v WHERE v.session = s.key AND v.position = $4::bigint),
         (SELECT i.sequence FROM ${items} i WHERE i.session = s.key AND i.position = $4::bigint)) AS sequence
       FROM ${sessions} s WHERE ${named}`,
    ),
    /** Of the session with key $1: to $2, $3, $4, where the lease still ends at $5 with fence $6. */
    moveLease: statement<{ key: number }>(
      "move-lease",
      `UPDATE ${sessions} SET lease_owner = $2, lease_until = $3, lease_fence = $4
       WHERE key = $1 AND lease_until = $5 AND lease_fence = $6 AND deleted_at IS NULL RETURNING key`,
    ),
    endLease: statement("end-lease", `UPDATE ${sessions} SET lease_until = $5 WHERE ${named} AND lease_fence = $4`),
    /** $4: the fence; $5: the body. A deletion under way is waited for: what it didn't see would stay. */
    saveDraft: statement<{ session: number }>(
      "save-draft",
      `INSERT INTO ${drafts} (session, fence, body)
       SELECT key, $4::integer, $5::text FROM ${sessions} WHERE ${named} AND lease_fence = $4::integer
       FOR KEY SHARE
       ON CONFLICT (session) DO UPDATE SET fence = excluded.fence, body = excluded.body RETURNING session`,
    ),
    draft: statement<{ fence: number; body: string }>(
      "draft",
      `SELECT d.fence, d.body FROM ${sessions} s JOIN ${drafts} d ON d.session = s.key AND d.fence = s.lease_fence WHERE ${named}`,
    ),
    /** $1: agents; $2: now; $3: how many. */
    abandoned: statement<{ tenant: string; agent: string; id: string }>(
      "abandoned",
      `SELECT coalesce(given_tenant, tenant) AS tenant, agent, id FROM ${sessions}
       WHERE agent = ANY ($1::text[]) AND deleted_at IS NULL
         AND key IN (SELECT key FROM ${sessions} WHERE lease_until > 0 AND lease_until <= $2::bigint)
       LIMIT $3::integer`,
    ),
    /** As above. */
    expired: statement<{ tenant: string; agent: string; id: string }>(
      "expired",
      `SELECT coalesce(given_tenant, tenant) AS tenant, agent, id FROM ${sessions}
       WHERE agent = ANY ($1::text[]) AND deleted_at IS NULL
         AND key IN (SELECT key FROM ${sessions} WHERE due_at IS NOT NULL AND due_at <= $2::bigint)
       LIMIT $3::integer`,
    ),
    findReceipt: statement<{ digest: string; outcome: string; created_at: number }>(
      "find-receipt",
      `SELECT digest, outcome, created_at FROM ${receipts}
       WHERE tenant = $1 AND agent = $2 AND operation = $3 AND session_id = $4 AND key = $5`,
    ),
    /** $4: operation, session, key, digest, outcome, creation, and the newest creation of one to write over. */
    keepReceipt: statement<{ session: number }>(
      "keep-receipt",
      `INSERT INTO ${receipts} AS kept (session, tenant, agent, operation, session_id, key, digest, outcome, created_at)
       VALUES (coalesce((SELECT s.key FROM ${sessions} s WHERE ${named}), 0), $1, $2, $4, $5, $6, $7, $8, $9)
       ON CONFLICT ON CONSTRAINT receipts_key DO UPDATE SET session = excluded.session, digest = excluded.digest,
         outcome = excluded.outcome, created_at = excluded.created_at
       WHERE kept.created_at < $10 RETURNING session`,
    ),
    dropReceipt: statement<{ session: number }>(
      "drop-receipt",
      `DELETE FROM ${receipts}
       WHERE tenant = $1 AND agent = $2 AND operation = $3 AND session_id = $4 AND key = $5 AND created_at < $6
       RETURNING session`,
    ),
    dropOldReceipts: statement(
      "drop-old-receipts",
      `DELETE FROM ${receipts} WHERE ctid = ANY (ARRAY (SELECT ctid FROM ${receipts} WHERE created_at < $1 LIMIT 2000))`,
    ),
  };
}
