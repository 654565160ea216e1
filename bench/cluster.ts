import pg from "pg";

/** A Postgres server for one run. */
export interface Cluster {
  /** Its version and how safe its commits are, for the report. */
  about: string;
  /** Makes an empty database; answers its URL. */
  database(name: string): Promise<string>;
  /** Lets commits of new connections to a database return before they are on disk, or not any more. */
  hurry(url: string, isOn: boolean): Promise<void>;
  /** Removes what was made. */
  remove(): Promise<void>;
}

interface Launched {
  url: string;
  start(): Promise<void>;
  remove(): Promise<void>;
}

interface Launcher {
  makePostgres(settings: readonly string[]): Promise<Launched>;
}

// What a server is set to by default, but for the room for pages and connections.
const settings = ["fsync=on", "synchronous_commit=on", "shared_buffers=256MB", "max_wal_size=4GB", "max_connections=100"];

/** Takes the server of `ORCHA_BENCH_POSTGRES_URL`, or starts one of its own. */
export async function openCluster(): Promise<Cluster> {
  const given = process.env["ORCHA_BENCH_POSTGRES_URL"];
  if (given !== undefined) return clusterAt(given);
  // The tests' launcher belongs to no package, so there are no types to import.
  const launcher: Launcher = await import(new URL("../test/postgres.ts", import.meta.url).href);
  const launched = await launcher.makePostgres(settings);
  await launched.start();
  const cluster = await clusterAt(launched.url);
  return {
    ...cluster,
    async remove() {
      await cluster.remove();
      await launched.remove();
    },
  };
}

async function clusterAt(url: string): Promise<Cluster> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  const made: string[] = [];
  return {
    about: await aboutOf(client),
    async database(name) {
      const full = `orcha_bench_${name}`;
      await client.query(`DROP DATABASE IF EXISTS ${full} WITH (FORCE)`);
      await client.query(`CREATE DATABASE ${full}`);
      made.push(full);
      const address = new URL(url);
      address.pathname = `/${full}`;
      return address.href;
    },
    async hurry(database, isOn) {
      const name = new URL(database).pathname.slice(1);
      await client.query(`ALTER DATABASE ${name} ${isOn ? "SET synchronous_commit = off" : "RESET synchronous_commit"}`);
    },
    async remove() {
      for (const name of made) await client.query(`DROP DATABASE IF EXISTS ${name} WITH (FORCE)`);
      await client.end();
    },
  };
}

async function aboutOf(client: pg.Client): Promise<string> {
  const sql = `SELECT current_setting('server_version') AS version, current_setting('fsync') AS fsync,
    current_setting('synchronous_commit') AS synchronous`;
  const [row] = (await client.query<{ version: string; fsync: string; synchronous: string }>(sql)).rows;
  return `Postgres ${row?.version}, fsync ${row?.fsync}, synchronous_commit ${row?.synchronous}`;
}

/** Removes dead rows and counts the living, as autovacuum does sooner or later. */
export async function vacuum(url: string): Promise<void> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  await client.query("VACUUM ANALYZE");
  await client.end();
}
