import type Database from "better-sqlite3";
import { listSql, type ListDialect } from "./list-sql.ts";
import type { ListQuery } from "./store.ts";

/** How many forms of the list are kept prepared: filters combine in many ways, apps use few. */
const maxPrepared = 50;

const dialect: ListDialect = { placeholder: () => "+?", table: (name) => name, indexed: (text) => text };

/** Reads pages of snapshots, newest update first. */
export function sqliteLists(database: Database.Database): { read(query: ListQuery): string[] } {
  const prepared = new Map<string, Database.Statement<(string | number)[], string>>();
  return {
    read(query) {
      const { sql, values } = listSql(query, dialect);
      let statement = prepared.get(sql);
      if (!statement) {
        statement = database.prepare<(string | number)[], string>(sql).pluck();
        if (prepared.size >= maxPrepared) prepared.clear();
        prepared.set(sql, statement);
      }
      return statement.all(...values);
    },
  };
}
