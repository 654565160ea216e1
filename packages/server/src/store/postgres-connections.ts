import type { ConnectionOptions } from "node:tls";
import { OrchaError } from "@orcha/contract";
import pg from "pg";
import { isPassing, isUsableAfter, toStorageError } from "./postgres-errors.ts";
import { sleep } from "./wait.ts";

/** Where a Postgres store keeps its tables, and how long it waits for them. */
export interface PostgresOptions {
  /** `postgres://user:password@host:port/database`; without it, `pool` and the `PG…` variables of the environment. */
  connectionString?: string;
  /** How to reach the database, in pg's words. */
  pool?: PostgresAddress;
  /** The schema that holds the tables; made where there is none. */
  schema?: string;
  /** How many connections there may be; further statements wait for one. */
  maxConnections?: number;
  /** How long a statement may take. */
  statementTimeoutMs?: number;
  /** How long to wait for a connection, a new or a free one. */
  connectTimeoutMs?: number;
  /** Called with each statement before it runs, for tracing. */
  trace?: (sql: string, values: readonly unknown[]) => void;
}

/** How to reach a database. */
export interface PostgresAddress {
  host?: string;
  port?: number;
  database?: string;
  user?: string;
  password?: string | (() => string | Promise<string>);
  ssl?: boolean | ConnectionOptions;
  application_name?: string;
}

/** A statement; one with a name is planned once per connection. */
export interface Statement<Row extends object = object> {
  name?: string;
  text: string;
  /** Only its type counts: the shape of the rows. */
  row?: Row;
}

/** Runs one statement. */
export type Query = <Row extends object>(statement: Statement<Row>, values?: readonly unknown[]) => Promise<Row[]>;

/** A bounded set of connections. Every failure is an `OrchaError` with code `storage_error`. */
export interface Connections {
  /** Runs a statement as a transaction of its own. */
  query: Query;
  /** Runs several statements in one transaction. `run` may be called again. */
  transaction<T>(run: (query: Query) => Promise<T>): Promise<T>;
  close(): Promise<void>;
}

/** How often a transaction is tried that others rolled back. */
const maxTries = 10;

// Every statement of the store walks an index. Told so, the planner needs no statistics, and plans each statement once.
const settings = [
  "plan_cache_mode=force_generic_plan",
  "enable_seqscan=off",
  "enable_bitmapscan=off",
  "enable_hashjoin=off",
  "enable_mergejoin=off",
  "enable_sort=off",
  "jit=off",
];

/** Opens a pool; connections are made when they are needed. */
export function openConnections(options: PostgresOptions): Connections {
  const { maxConnections = 10, statementTimeoutMs = 10_000, connectTimeoutMs = 5000, trace } = options;
  // Keys, times and fences stay far below 2^53.
  const types = new pg.TypeOverrides();
  types.setTypeParser(pg.types.builtins.INT8, Number);
  const pool = new pg.Pool({
    application_name: "orcha",
    ...options.pool,
    ...(options.connectionString === undefined ? {} : { connectionString: options.connectionString }),
    max: maxConnections,
    connectionTimeoutMillis: connectTimeoutMs,
    statement_timeout: statementTimeoutMs,
    // Also where the server can't be asked any more.
    query_timeout: statementTimeoutMs + 1000,
    idle_in_transaction_session_timeout: statementTimeoutMs + 1000,
    keepAlive: true,
    options: settings.map((setting) => `-c ${setting}`).join(" "),
    types,
  });
  // A connection that dies is replaced when the next one is needed; without listeners it would end the process.
  pool.on("error", noop);
  pool.on("connect", (client) => client.on("error", noop));
  let closing: Promise<void> | undefined;

  async function run<Row extends object>(client: pg.PoolClient, statement: Statement<Row>, values: readonly unknown[]): Promise<Row[]> {
    const { name, text } = statement;
    trace?.(text, values);
    const { rows } = await client.query<Row>({ ...(name === undefined ? {} : { name }), text, values: [...values] });
    return rows;
  }

  async function withClient<T>(use: (client: pg.PoolClient) => Promise<T>): Promise<T> {
    for (let tries = 1; ; tries += 1) {
      const client = await pool.connect().catch(fail);
      let broken = false;
      try {
        return await use(client);
      } catch (error) {
        broken = !(error instanceof OrchaError) && !isUsableAfter(error);
        if (!isPassing(error) || tries === maxTries) throw error;
      } finally {
        client.release(broken);
      }
      await sleep(Math.random() * 2 ** tries);
    }
  }

  return {
    query: (statement, values = []) => withClient((client) => run(client, statement, values)).catch(fail),

    transaction: (work) =>
      withClient(async (client) => {
        await run(client, { text: "BEGIN" }, []);
        try {
          const result = await work((statement, values = []) => run(client, statement, values));
          await run(client, { text: "COMMIT" }, []);
          return result;
        } catch (error) {
          await run(client, { text: "ROLLBACK" }, []).catch(noop);
          throw error;
        }
      }).catch(fail),

    async close() {
      closing ??= pool.end();
      await closing;
    },
  };
}

function fail(error: unknown): never {
  throw toStorageError(error);
}

function noop(): void {}
