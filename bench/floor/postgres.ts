import pg from "pg";
import { pageSize, pinnedShare, type Place, type SeedItems, type Side } from "../side.ts";
import { cycle, turnOf } from "../workload.ts";
import { itemsOf, itemsPerCycle } from "./items.ts";

/*
 * The floor on Postgres: an append is one statement, a page is one statement, each prepared once and one round trip. The
 * row lock of the session puts writers in order. Its schema and statements are frozen, as the floor's on SQLite are.
 */

export const schema = `
  CREATE TABLE IF NOT EXISTS sessions (
    sid BIGSERIAL PRIMARY KEY, id TEXT UNIQUE NOT NULL, n BIGINT NOT NULL, updated BIGINT NOT NULL, meta JSONB NOT NULL
  );
  CREATE TABLE IF NOT EXISTS smeta (k TEXT, v TEXT, updated BIGINT, sid BIGINT, PRIMARY KEY (k, v, updated, sid));
  CREATE TABLE IF NOT EXISTS events (sid BIGINT, seq BIGINT, payload TEXT NOT NULL, PRIMARY KEY (sid, seq));
  CREATE TABLE IF NOT EXISTS history (sid BIGINT, pos BIGINT, payload TEXT NOT NULL, PRIMARY KEY (sid, pos));
`;

const addSession = "INSERT INTO sessions (id, n, updated, meta) VALUES ($1, 0, 0, '{}')";
const append = `
  WITH s AS (UPDATE sessions SET n = n + $2, updated = $3 WHERE id = $1 RETURNING sid, n - $2 AS base),
    e AS (INSERT INTO events SELECT s.sid, s.base + p.o - 1, p.x FROM s, unnest($4::text[]) WITH ORDINALITY p (x, o))
  INSERT INTO history SELECT s.sid, s.base + p.o - 1, p.x FROM s, unnest($4::text[]) WITH ORDINALITY p (x, o)`;
const ofSession = "SELECT h.payload FROM history h WHERE h.sid = (SELECT sid FROM sessions WHERE id = $1)";
const newest = `${ofSession} ORDER BY h.pos DESC LIMIT $2`;
const oldest = `${ofSession} ORDER BY h.pos LIMIT $2`;
const range = `${ofSession} AND h.pos < $2 AND h.pos >= $3 ORDER BY h.pos DESC`;

/** Plans each statement once: left to itself, the planner now and then plans one again for every call. */
export const planOnce = "-c plan_cache_mode=force_generic_plan";

/** How many turns one statement of the seeding holds. */
const batch = 400;

/** Opens the floor on a database. */
export async function openPostgresFloor(url: string): Promise<Side & { seedItems: SeedItems }> {
  const pool = new pg.Pool({ connectionString: url, max: 10, options: planOnce });
  // Databases are dropped at the end of a run that fails as well: that must not hide why.
  pool.on("error", () => undefined);
  await pool.query(schema);
  /** Items of each session when it was seeded: where its middle is. */
  const lengths = new Map<string, number>();

  async function appendItems(session: string, items: readonly unknown[], at: number): Promise<void> {
    const payloads = items.map((item) => JSON.stringify(item));
    await pool.query({ name: "append", text: append, values: [session, payloads.length, at, payloads] });
  }

  async function textsAt(session: string, place: Place): Promise<string[]> {
    const length = lengths.get(session) ?? 0;
    switch (place) {
      case "newest":
        return (await texts("newest", newest, [session, pageSize])).toReversed();
      case "oldest":
        return texts("oldest", oldest, [session, pageSize]);
      case "middle":
        return rangeUpTo(session, Math.floor(length / pageSize / 2) * pageSize);
      case "pinned":
        return rangeUpTo(session, Math.floor(length * pinnedShare));
    }
  }

  async function rangeUpTo(session: string, end: number): Promise<string[]> {
    return (await texts("range", range, [session, end, end - pageSize])).toReversed();
  }

  async function texts(name: string, text: string, values: unknown[]): Promise<string[]> {
    const { rows } = await pool.query<{ payload: string }>({ name, text, values });
    return rows.map(({ payload }) => payload);
  }

  return {
    async seed(session, items) {
      await pool.query(addSession, [session]);
      lengths.set(session, items);
      const turns = Math.floor(items / itemsPerCycle) * cycle;
      for (let first = 0; first < turns; first += batch) {
        const numbers = Array.from({ length: Math.min(batch, turns - first) }, (_, index) => first + index);
        await appendItems(session, numbers.flatMap((number) => itemsOf(session, turnOf(session, number))), 0);
      }
      const rest = items % itemsPerCycle;
      for (let number = turns; number < turns + rest; number += 1) {
        await appendItems(session, itemsOf(session, turnOf(session, number)).slice(0, 1), 0);
      }
      return turns + rest;
    },
    page: async (session, place) => (await textsAt(session, place)).map((text): unknown => JSON.parse(text)),
    async append(session, turn) {
      const items = itemsOf(session, turn);
      await appendItems(session, items, items[0]?.ts ?? 0);
    },
    async seedItems(session, items) {
      await pool.query(addSession, [session]);
      lengths.set(session, items.length);
      for (let first = 0; first < items.length; first += 1000) await appendItems(session, items.slice(first, first + 1000), 0);
    },
    close: () => pool.end(),
  };
}
