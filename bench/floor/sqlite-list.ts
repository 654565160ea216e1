import Database from "better-sqlite3";
import { listedBy, listSize, metadataOf, updatedAtOf, type ListSide } from "../list-side.ts";
import { schema } from "./sqlite.ts";

interface ListedRow {
  id: string;
  updated: number;
  meta: string;
}

/** The floor's list on SQLite: along one index, the sessions by their key, metadata through `JSON.parse`. Frozen. */
export function openListFloor(file: string): ListSide {
  const database = new Database(file);
  database.pragma("journal_mode = WAL");
  database.exec(schema);
  const addSession = database.prepare("INSERT INTO sessions (id, n, updated, meta) VALUES (?, 0, ?, ?)");
  const addEntry = database.prepare("INSERT INTO smeta VALUES (?, ?, ?, ?)");
  const selectFrom = "SELECT s.id, s.updated, s.meta FROM smeta m JOIN sessions s ON s.sid = m.sid WHERE m.k = ? AND m.v = ?";
  const first = database.prepare<unknown[], ListedRow>(`${selectFrom} ORDER BY m.updated DESC LIMIT ?`);
  const second = database.prepare<unknown[], ListedRow>(`${selectFrom} AND m.updated < ? ORDER BY m.updated DESC LIMIT ?`);
  let end = 0;

  function rowsOf(page: "first" | "second"): ListedRow[] {
    const { tenant } = listedBy;
    return page === "first" ? first.all("tenant", tenant, listSize) : second.all("tenant", tenant, end, listSize);
  }

  return {
    async seed(sessions) {
      database.transaction(() => {
        for (let index = 0; index < sessions; index += 1) {
          const metadata = metadataOf(index);
          const { lastInsertRowid } = addSession.run(`s${index}`, updatedAtOf(index), JSON.stringify(metadata));
          for (const [key, value] of Object.entries(metadata)) addEntry.run(key, String(value), updatedAtOf(index), lastInsertRowid);
        }
      })();
      end = rowsOf("first").at(-1)?.updated ?? 0;
    },
    list: async (page) => rowsOf(page).map((row) => ({ ...row, meta: JSON.parse(row.meta) as unknown })),
    async close() {
      database.close();
    },
  };
}
