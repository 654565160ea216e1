import { invalidInput, OrchaError } from "@orcha/contract";
import { postgresMigrations } from "./migrations.ts";
import { openConnections, type Connections, type PostgresOptions, type Query } from "./postgres-connections.ts";
import { postgresStatements, type Statements } from "./postgres-statements.ts";

/** A table's name with its schema's. */
export type Tables = (name: string) => string;

/** What everything that talks to the database needs. */
export interface PostgresParts {
  connections: Connections;
  tables: Tables;
  statements: Statements;
}

/** The oldest Postgres that knows every function of the statements: `string_to_table` is of version 14. */
const oldest = 14;

/**
 * Opens a pool and brings the schema up to date. Throws `storage_error` for a foreign or a newer schema, and for a
 * database that can't hold what sessions hold.
 */
export async function openPostgres(options: PostgresOptions): Promise<PostgresParts> {
  const { schema = "orcha" } = options;
  if (!/^[a-z_][a-z0-9_]{0,62}$/.test(schema)) {
    throw invalidInput(["schema"], "must be up to 63 lower-case letters, digits and underscores");
  }
  const connections = openConnections(options);
  try {
    await checkDatabase(connections.query);
    if ((await versionOf(connections.query, schema)) !== newestOf(schema)) {
      await connections.transaction((query) => migrate(query, schema));
    }
  } catch (error) {
    await connections.close();
    throw error;
  }
  const tables: Tables = (name) => `"${schema}".${name}`;
  return { connections, tables, statements: postgresStatements(tables) };
}

/** Said at the start, or every write would fail without a word of why. */
async function checkDatabase(query: Query): Promise<void> {
  const [found] = await query<{ version: number; encoding: string }>({
    text: "SELECT current_setting('server_version_num')::integer / 10000 AS version, current_setting('server_encoding') AS encoding",
  });
  if (!found) return;
  const { version, encoding } = found;
  if (version < oldest) throw new OrchaError("storage_error", `the database is Postgres ${version}; Orcha needs ${oldest} or newer`);
  if (encoding !== "UTF8") {
    throw new OrchaError("storage_error", `the database is encoded in ${encoding}, which can't hold every text: make it with ENCODING 'UTF8'`);
  }
}

function newestOf(schema: string): number {
  return postgresMigrations(schema).at(-1)?.version ?? 0;
}

/** Several servers may start at once: the first one migrates, the others wait and find it done. */
async function migrate(query: Query, schema: string): Promise<void> {
  await query({ text: "SELECT pg_advisory_xact_lock(hashtextextended($1, 0))" }, [`orcha:${schema}`]);
  const version = await versionOf(query, schema);
  const newest = newestOf(schema);
  if (version > newest) {
    const message = `schema ${schema} is of version ${version}; this server knows up to ${newest}: upgrade the server`;
    throw new OrchaError("storage_error", message);
  }
  if (version === newest) return;
  if (version === 0) await prepareSchema(query, schema);
  for (const migration of postgresMigrations(schema)) if (migration.version > version) await query({ text: migration.sql });
  await query({ text: `INSERT INTO "${schema}".schema_version VALUES ($1, now())` }, [newest]);
}

async function prepareSchema(query: Query, schema: string): Promise<void> {
  const [found] = await query<{ tables: number }>(
    {
      text: `SELECT count(c.oid)::integer AS tables
        FROM pg_namespace n LEFT JOIN pg_class c ON c.relnamespace = n.oid AND c.relkind IN ('r', 'p', 'v', 'm')
        WHERE n.nspname = $1 GROUP BY n.oid`,
    },
    [schema],
  );
  if (found && found.tables > 0) throw new OrchaError("storage_error", `schema ${schema} holds tables that are not Orcha's`);
  if (!found) await query({ text: `CREATE SCHEMA "${schema}"` });
  await query({ text: `CREATE TABLE "${schema}".schema_version (version integer PRIMARY KEY, migrated_at timestamptz NOT NULL)` });
}

/** The newest step that a schema has seen; 0 where it has none. */
async function versionOf(query: Query, schema: string): Promise<number> {
  // From the catalog's own tables: what others have just made may be missing in a session's cache of names.
  const [found] = await query<{ relname: string }>(
    {
      text: `SELECT c.relname FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
        WHERE n.nspname = $1 AND c.relname = 'schema_version'`,
    },
    [schema],
  );
  if (!found) return 0;
  const [row] = await query<{ version: number }>({ text: `SELECT coalesce(max(version), 0) AS version FROM "${schema}".schema_version` });
  return row?.version ?? 0;
}
