import { serve } from "@orcha/server/node";
import { sqliteStore } from "@orcha/server/sqlite";
import { agents } from "../agents.ts";

// One server process: node server.ts '{"sqlite":{"file":"…"}}'. It prints its URL, serves, and is ended by its parent.
const where: { sqlite?: Parameters<typeof sqliteStore>[0]; postgres?: { connectionString: string; schema: string } } = JSON.parse(
  process.argv[2] ?? "{}",
);

try {
  const server = await serve({ agents, store: await open(), port: 0, onError: (error) => console.error(String(error)) });
  console.log(`listening on ${server.url}`);
} catch (error) {
  console.error(error instanceof Error ? error.message : error);
  process.exit(1);
}

async function open() {
  if (where.sqlite) return sqliteStore(where.sqlite);
  const { postgresStore } = await import("@orcha/server/postgres");
  return postgresStore({ ...where.postgres, maxConnections: 4 });
}
