import { createSessions, type Call, type Store } from "@orcha/server";
import type { PostgresOptions } from "@orcha/server/postgres";
import pg from "pg";
import { inject, onTestFinished } from "vitest";
import { agents } from "../agents.ts";
import { postgresIn } from "../stores.ts";

export const call: Call = { principal: { tenant: "default", scopes: ["read", "log", "write"] } };
export const ref = { tenant: "default", agent: "supportAgent", sessionId: "s" };
export const name = { agent: ref.agent, sessionId: ref.sessionId };

export interface Traced {
  sql: string;
  values: readonly unknown[];
}

/** A store that is closed after the test, and the statements it has run since `traced` was emptied. */
export async function tracedStore(schema: string, options: Partial<PostgresOptions> = {}) {
  const traced: Traced[] = [];
  const store = await postgresIn(schema, { trace: (sql, values) => traced.push({ sql, values }), ...options });
  onTestFinished(() => store.close());
  traced.length = 0;
  return { store, traced, schema, sessions: createSessions(agents, store) };
}

/** Runs statements beside the stores. */
export async function beside<T>(use: (client: pg.Client) => Promise<T>): Promise<T> {
  const client = new pg.Client({ connectionString: inject("postgresUrl") });
  await client.connect();
  try {
    return await use(client);
  } finally {
    await client.end();
  }
}

export const said = (text: string) => ({ type: "message.created", data: { role: "user", content: [{ type: "text", text }] } });
export const requested = (callId: string) => ({ type: "action.requested", data: { callId, name: "look", arguments: {} } });
export const completed = (callId: string) => ({ type: "action.completed", data: { callId, name: "look", output: 1 } });

export async function sequencesOf(store: Store, of = ref): Promise<number[]> {
  const bodies = (await store.events(of, 1, 1_000_000)) ?? [];
  return bodies.map((body) => (JSON.parse(body) as { sequence: number }).sequence);
}

export const upTo = (last: number) => Array.from({ length: last }, (_, index) => index + 1);
