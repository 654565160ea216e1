import Database from "better-sqlite3";
import { pageSize, pinnedShare, type Place, type SeedItems, type Side, type Synchronous } from "../side.ts";
import { cycle, turnOf } from "../workload.ts";
import { itemsOf, itemsPerCycle, type FloorItem } from "./items.ts";

/*
 * The physical floor: the least that SQLite can do and still keep a log and a history of it. Its schema and statements
 * are frozen, so that ratios of different days can be compared. It checks nothing, projects nothing, has no versions.
 */

export const schema = `
  CREATE TABLE IF NOT EXISTS sessions (
    sid INTEGER PRIMARY KEY, id TEXT UNIQUE NOT NULL, n INTEGER NOT NULL, updated INTEGER NOT NULL, meta TEXT NOT NULL
  );
  CREATE TABLE IF NOT EXISTS smeta (
    k TEXT, v TEXT, updated INTEGER, sid INTEGER, PRIMARY KEY (k, v, updated, sid)
  ) WITHOUT ROWID;
  CREATE TABLE IF NOT EXISTS events (sid INTEGER, seq INTEGER, payload TEXT NOT NULL, PRIMARY KEY (sid, seq)) WITHOUT ROWID;
  CREATE TABLE IF NOT EXISTS history (sid INTEGER, pos INTEGER, payload TEXT NOT NULL, PRIMARY KEY (sid, pos)) WITHOUT ROWID;
`;

/** How many turns one transaction of the seeding holds. */
const batch = 400;

interface SessionRow {
  sid: number;
  n: number;
}

/** Opens the floor on a file. */
export function openFloor(file: string, synchronous: Synchronous): Side & { seedItems: SeedItems } {
  const database = new Database(file);
  database.pragma("journal_mode = WAL");
  database.pragma(`synchronous = ${synchronous}`);
  database.exec(schema);
  const statements = prepare(database);

  const appendItems = database.transaction((session: string, items: readonly unknown[], at: number) => {
    const { sid, n } = find(session);
    let position = n;
    for (const item of items) {
      const payload = JSON.stringify(item);
      statements.addEvent.run(sid, position, payload);
      statements.addItem.run(sid, position, payload);
      position += 1;
    }
    statements.moveSession.run(position, at, sid);
  });

  function appendAll(session: string, items: readonly FloorItem[]): void {
    appendItems(session, items, items.at(-1)?.ts ?? 0);
  }

  function find(session: string): SessionRow {
    const row = statements.findSession.get(session);
    if (!row) throw new RangeError(`no session ${session}`);
    return row;
  }

  function textsAt(session: string, place: Place): string[] {
    const { sid, n } = find(session);
    switch (place) {
      case "newest":
        return statements.newest.all(sid, pageSize).toReversed();
      case "oldest":
        return statements.oldest.all(sid, pageSize);
      case "middle":
        return rangeUpTo(sid, Math.floor(n / pageSize / 2) * pageSize);
      case "pinned":
        return rangeUpTo(sid, Math.floor(n * pinnedShare));
    }
  }

  function rangeUpTo(sid: number, end: number): string[] {
    return statements.range.all(sid, end, end - pageSize).toReversed();
  }

  return {
    async seed(session, items) {
      statements.addSession.run(session, 0, "{}");
      const turns = Math.floor(items / itemsPerCycle) * cycle;
      for (let first = 0; first < turns; first += batch) {
        const numbers = Array.from({ length: Math.min(batch, turns - first) }, (_, index) => first + index);
        appendAll(session, numbers.flatMap((number) => itemsOf(session, turnOf(session, number))));
      }
      const rest = items % itemsPerCycle;
      for (let number = turns; number < turns + rest; number += 1) {
        appendAll(session, itemsOf(session, turnOf(session, number)).slice(0, 1));
      }
      return turns + rest;
    },
    page: async (session, place) => textsAt(session, place).map((text): unknown => JSON.parse(text)),
    append: async (session, turn) => appendAll(session, itemsOf(session, turn)),
    async seedItems(session, items) {
      statements.addSession.run(session, 0, "{}");
      appendItems(session, items, 0);
    },
    async close() {
      database.close();
    },
  };
}

function prepare(database: Database.Database) {
  return {
    findSession: database.prepare<[string], SessionRow>("SELECT sid, n FROM sessions WHERE id = ?"),
    addSession: database.prepare("INSERT INTO sessions (id, n, updated, meta) VALUES (?, 0, ?, ?)"),
    addEvent: database.prepare("INSERT INTO events VALUES (?, ?, ?)"),
    addItem: database.prepare("INSERT INTO history VALUES (?, ?, ?)"),
    moveSession: database.prepare("UPDATE sessions SET n = ?, updated = ? WHERE sid = ?"),
    newest: database
      .prepare<[number, number], string>("SELECT payload FROM history WHERE sid = ? ORDER BY pos DESC LIMIT ?")
      .pluck(),
    oldest: database
      .prepare<[number, number], string>("SELECT payload FROM history WHERE sid = ? ORDER BY pos LIMIT ?")
      .pluck(),
    range: database
      .prepare<[number, number, number], string>(
        "SELECT payload FROM history WHERE sid = ? AND pos < ? AND pos >= ? ORDER BY pos DESC",
      )
      .pluck(),
  };
}
