import { pageSize } from "./side.ts";

/*
 * Reads 50 pages, from the newest to the oldest, and prints the most memory that the process held meanwhile, in bytes.
 * Without a session it runs a statement instead: a bare process with the driver.
 */

type Read = (index: number) => unknown;

const pages = 50;
const [kind = "", address = "", sessionId] = process.argv.slice(2);
const read = await (sessionId === undefined ? openBare() : openOrcha(sessionId));
let most = 0;
for (let index = 0; index < pages; index += 1) {
  await read(index);
  most = Math.max(most, process.memoryUsage.rss());
}
console.log(most);
process.exit();

async function openBare(): Promise<Read> {
  if (kind === "sqlite") {
    const { default: Database } = await import("better-sqlite3");
    const statement = new Database(address).prepare("SELECT 1");
    return () => statement.get();
  }
  const { default: pg } = await import("pg");
  const pool = new pg.Pool({ connectionString: address });
  return () => pool.query("SELECT 1");
}

async function openOrcha(session: string): Promise<Read> {
  const { agent } = await import("./agents.ts");
  const { call, sessionsOn } = await import("./orcha.ts");
  const { reading } = sessionsOn(await openStore());
  const { total } = await reading.history(call, { agent, sessionId: session, page: 1, pageSize });
  const last = Math.ceil(total / pageSize);
  return (index) => reading.history(call, { agent, sessionId: session, pageSize, page: 1 + Math.floor((index * last) / pages) });
}

async function openStore() {
  if (kind === "sqlite") {
    const { sqliteStore } = await import("@orcha/server/sqlite");
    return sqliteStore({ file: address });
  }
  const { postgresStore } = await import("@orcha/server/postgres");
  return postgresStore({ connectionString: address });
}
