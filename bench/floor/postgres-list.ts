import pg from "pg";
import { listedBy, listSize, updatedAtOf, type ListSide } from "../list-side.ts";
import { planOnce, schema } from "./postgres.ts";

interface ListedRow {
  id: string;
  updated: string;
  meta: unknown;
}

const listed = "SELECT s.id, s.updated, s.meta FROM smeta m JOIN sessions s ON s.sid = m.sid WHERE m.k = $1 AND m.v = $2";
const first = `${listed} ORDER BY m.updated DESC LIMIT $3`;
const second = `${listed} AND m.updated < $4 ORDER BY m.updated DESC LIMIT $3`;

/** The floor's list on Postgres: along one index, the sessions by their key; pg parses the metadata. Frozen. */
export async function openPostgresListFloor(url: string): Promise<ListSide> {
  const pool = new pg.Pool({ connectionString: url, max: 2, options: planOnce });
  // Databases are dropped at the end of a run that fails as well: that must not hide why.
  pool.on("error", () => undefined);
  await pool.query(schema);
  let end = "0";

  async function rowsOf(page: "first" | "second"): Promise<ListedRow[]> {
    const values = ["tenant", listedBy.tenant, listSize];
    const query =
      page === "first" ? { name: "first", text: first, values } : { name: "second", text: second, values: [...values, end] };
    return (await pool.query<ListedRow>(query)).rows;
  }

  return {
    async seed(sessions) {
      await pool.query(
        `INSERT INTO sessions (id, n, updated, meta)
         SELECT 's' || i, 0, ${updatedAtOf(0)} + i * ${updatedAtOf(1) - updatedAtOf(0)},
           jsonb_build_object('tenant', 't' || (i % 20), 'channel', 'web', 'n', i)
         FROM generate_series(0, ${sessions - 1}) i`,
      );
      await pool.query("INSERT INTO smeta SELECT e.key, e.value #>> '{}', s.updated, s.sid FROM sessions s, jsonb_each(s.meta) e");
      end = (await rowsOf("first")).at(-1)?.updated ?? "0";
    },
    list: rowsOf,
    close: () => pool.end(),
  };
}
