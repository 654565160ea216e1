import { OrchaError } from "@orcha/contract";
import Database from "better-sqlite3";
import { sleep } from "./wait.ts";

/** How long a statement waits for another process's transaction, in milliseconds. */
export const busyTimeoutMs = 5000;

/**
 * Runs a transaction or statement, and waits for other processes between tries without blocking the event loop, as
 * SQLite's own busy handler would. Throws `storage_error` after `timeoutMs`, and for every other failure of SQLite.
 */
export async function whenFree<T>(run: () => T, timeoutMs: number = busyTimeoutMs): Promise<T> {
  const deadline = Date.now() + timeoutMs;
  for (let tries = 0; ; tries += 1) {
    try {
      return run();
    } catch (cause) {
      if (!isBusy(cause)) throw toStorageError(cause);
      if (Date.now() >= deadline) {
        throw new OrchaError("storage_error", `the database stayed locked for ${timeoutMs} ms`, { cause });
      }
      await sleep(Math.random() * Math.min(25, 2 ** tries));
    }
  }
}

function isBusy(error: unknown): boolean {
  return error instanceof Database.SqliteError && (error.code.startsWith("SQLITE_BUSY") || error.code === "SQLITE_LOCKED");
}

function toStorageError(error: unknown): unknown {
  // What better-sqlite3 throws before it asks SQLite.
  if (error instanceof TypeError && error.message.startsWith("Cannot open database because the directory")) {
    return new OrchaError("storage_error", "the directory of the database file does not exist: make it, or name another file", { cause: error });
  }
  // What better-sqlite3 throws once its file is closed; what was under way then is tried elsewhere.
  if (error instanceof TypeError && error.message === "The database connection is not open") {
    return new OrchaError("storage_error", "the store is closed", { cause: error });
  }
  if (!(error instanceof Database.SqliteError)) return error;
  return new OrchaError("storage_error", reasonOf(error.code), { cause: error });
}

function reasonOf(code: string): string {
  if (code === "SQLITE_FULL") return "the disk or the database is full";
  if (code.startsWith("SQLITE_READONLY")) return "the database can't be written";
  if (code.startsWith("SQLITE_CORRUPT") || code === "SQLITE_NOTADB") return "the database file is damaged";
  if (code.startsWith("SQLITE_IOERR") || code.startsWith("SQLITE_CANTOPEN")) return "the database file can't be read or written";
  return "the database failed";
}
