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
  {
    version: 2,
    name: "runs: what waits for a server, and answers in the making",
    sql: `
      ALTER TABLE sessions ADD COLUMN due_at INTEGER;
      CREATE INDEX sessions_by_lease ON sessions (lease_until) WHERE lease_until > 0;
      CREATE INDEX sessions_by_due ON sessions (due_at) WHERE due_at IS NOT NULL;
      CREATE TABLE drafts (
        session INTEGER PRIMARY KEY,
        fence INTEGER NOT NULL,
        body TEXT NOT NULL
      );
    `,
  },
];

/** Every step of the Postgres schema, oldest first; `schema` is a quoted name. */
export function postgresMigrations(schema: string): readonly Migration[] {
  return [
    {
      version: 1,
      name: "the log, its projections and receipts",
      // Names sort by their bytes, as in the other stores. A deleted session stays as an empty row: the one unique index
      // then settles who gets an id, whichever write is faster.
      sql: `
        CREATE TABLE ${schema}.sessions (
          key bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
          updated_at bigint NOT NULL,
          lease_until bigint NOT NULL DEFAULT 0,
          deleted_at bigint,
          sequence integer NOT NULL,
          item_count integer NOT NULL,
          lease_fence integer NOT NULL DEFAULT 0,
          lease_owner text,
          tenant text COLLATE "C" NOT NULL,
          agent text COLLATE "C" NOT NULL,
          id text COLLATE "C" NOT NULL,
          parent_agent text COLLATE "C",
          parent_id text COLLATE "C",
          status text COLLATE "C" NOT NULL,
          run_status text COLLATE "C",
          snapshot text NOT NULL,
          open_items text NOT NULL,
          open_positions integer[] NOT NULL,
          UNIQUE (tenant, agent, id)
        );
        CREATE INDEX sessions_by_update ON ${schema}.sessions (tenant, agent, updated_at DESC, id)
          WHERE parent_id IS NULL AND deleted_at IS NULL;
        CREATE INDEX sessions_by_parent ON ${schema}.sessions (tenant, parent_agent, parent_id)
          WHERE parent_id IS NOT NULL AND deleted_at IS NULL;
        CREATE TABLE ${schema}.session_metadata (
          session bigint NOT NULL,
          updated_at bigint NOT NULL,
          tenant text COLLATE "C" NOT NULL,
          agent text COLLATE "C" NOT NULL,
          key text COLLATE "C" NOT NULL,
          value text COLLATE "C" NOT NULL,
          id text COLLATE "C" NOT NULL
        );
        CREATE UNIQUE INDEX session_metadata_entry
          ON ${schema}.session_metadata (tenant, agent, key, value, updated_at DESC, id);
        CREATE TABLE ${schema}.events (
          session bigint NOT NULL,
          sequence integer NOT NULL,
          item_count integer NOT NULL,
          body text NOT NULL,
          PRIMARY KEY (session, sequence)
        );
        CREATE TABLE ${schema}.items (
          session bigint NOT NULL,
          position integer NOT NULL,
          sequence integer NOT NULL,
          body text NOT NULL,
          PRIMARY KEY (session, position)
        );
        CREATE TABLE ${schema}.item_lookups (
          session bigint NOT NULL,
          position integer NOT NULL,
          lookup text COLLATE "C" NOT NULL,
          PRIMARY KEY (session, lookup, position)
        );
        CREATE TABLE ${schema}.item_versions (
          session bigint NOT NULL,
          position integer NOT NULL,
          sequence integer NOT NULL,
          body text NOT NULL,
          PRIMARY KEY (session, position, sequence)
        );
        CREATE TABLE ${schema}.receipts (
          session bigint NOT NULL,
          created_at bigint NOT NULL,
          tenant text COLLATE "C" NOT NULL,
          agent text COLLATE "C" NOT NULL,
          operation text COLLATE "C" NOT NULL,
          session_id text COLLATE "C" NOT NULL,
          key text COLLATE "C" NOT NULL,
          digest text NOT NULL,
          outcome text NOT NULL,
          CONSTRAINT receipts_key PRIMARY KEY (tenant, agent, operation, session_id, key)
        );
        CREATE INDEX receipts_by_session ON ${schema}.receipts (session);
        CREATE INDEX receipts_by_age ON ${schema}.receipts (created_at);
      `,
    },
    {
      version: 2,
      name: "runs: what waits for a server, and answers in the making",
      // `given_tenant` is the tenant where the indexed column holds its digest instead.
      sql: `
        ALTER TABLE ${schema}.sessions ADD COLUMN due_at bigint, ADD COLUMN given_tenant text;
        CREATE INDEX sessions_by_lease ON ${schema}.sessions (lease_until) WHERE lease_until > 0;
        CREATE INDEX sessions_by_due ON ${schema}.sessions (due_at) WHERE due_at IS NOT NULL;
        CREATE TABLE ${schema}.drafts (
          session bigint PRIMARY KEY,
          fence integer NOT NULL,
          body text NOT NULL
        );
      `,
    },
  ];
}
