/** One step of the schema; steps are never edited once released. */
export interface Migration {
  version: number;
  name: string;
  sql: string;
}

/** Marks a SQLite file as Orcha's: "ORCA" in ASCII. */
export const sqliteApplicationId = 0x4f524341;

/** Every step of the SQLite schema, oldest first. */
export const sqliteMigrations: readonly Migration[] = [
  {
    version: 1,
    name: "the log, its projections and receipts",
    // Rows lie in the order of their session, so a page is one range of neighbours. Events and items have the session's
    // key and their own number in one integer, session << 32 | number: half the tree of a key of two columns.
    sql: `
      CREATE TABLE sessions (
        key INTEGER PRIMARY KEY AUTOINCREMENT,
        tenant TEXT NOT NULL,
        agent TEXT NOT NULL,
        id TEXT NOT NULL,
        sequence INTEGER NOT NULL,
        item_count INTEGER NOT NULL,
        updated_at INTEGER NOT NULL,
        status TEXT NOT NULL,
        run_status TEXT,
        parent_agent TEXT,
        parent_id TEXT,
        snapshot TEXT NOT NULL,
        open_items TEXT NOT NULL,
        lease_owner TEXT,
        lease_until INTEGER NOT NULL DEFAULT 0,
        lease_fence INTEGER NOT NULL DEFAULT 0,
        UNIQUE (tenant, agent, id)
      );
      CREATE INDEX sessions_by_update ON sessions (tenant, agent, updated_at DESC, id) WHERE parent_id IS NULL;
      CREATE INDEX sessions_by_parent ON sessions (tenant, parent_agent, parent_id) WHERE parent_id IS NOT NULL;
      CREATE TABLE session_metadata (
        tenant TEXT NOT NULL,
        agent TEXT NOT NULL,
        key TEXT NOT NULL,
        value TEXT NOT NULL,
        updated_at INTEGER NOT NULL,
        id TEXT NOT NULL,
        session INTEGER NOT NULL,
        PRIMARY KEY (tenant, agent, key, value, updated_at DESC, id)
      ) WITHOUT ROWID;
      CREATE TABLE events (
        key INTEGER PRIMARY KEY,
        item_count INTEGER NOT NULL,
        body TEXT NOT NULL
      );
      CREATE TABLE items (
        key INTEGER PRIMARY KEY,
        sequence INTEGER NOT NULL,
        body TEXT NOT NULL
      );
      CREATE TABLE item_lookups (
        session INTEGER NOT NULL,
        lookup TEXT NOT NULL,
        position INTEGER NOT NULL,
        PRIMARY KEY (session, lookup, position)
      ) WITHOUT ROWID;
      CREATE TABLE item_versions (
        session INTEGER NOT NULL,
        position INTEGER NOT NULL,
        sequence INTEGER NOT NULL,
        body TEXT NOT NULL,
        PRIMARY KEY (session, position, sequence)
      ) WITHOUT ROWID;
      CREATE TABLE receipts (
        tenant TEXT NOT NULL,
        agent TEXT NOT NULL,
        operation TEXT NOT NULL,
        session_id TEXT NOT NULL,
        key TEXT NOT NULL,
        session INTEGER NOT NULL,
        digest TEXT NOT NULL,
        outcome TEXT NOT NULL,
        created_at INTEGER NOT NULL,
        PRIMARY KEY (tenant, agent, operation, session_id, key)
      ) WITHOUT ROWID;
      CREATE INDEX receipts_by_session ON receipts (session);
      CREATE INDEX receipts_by_age ON receipts (created_at);
      CREATE TABLE tombstones (
        tenant TEXT NOT NULL,
        agent TEXT NOT NULL,
        id TEXT NOT NULL,
        deleted_at INTEGER NOT NULL,
        PRIMARY KEY (tenant, agent, id)
      ) WITHOUT ROWID;
    `,
  },
];
