import { OrchaError } from "@orcha/contract";
import pg from "pg";

/** Tells whether the transaction was rolled back only because of another one, and may be tried again. */
export function isPassing(error: unknown): boolean {
  return error instanceof pg.DatabaseError && (error.code === "40001" || error.code === "40P01");
}

/** Tells whether a receipt with this key was there already. */
export function isReceiptTaken(error: unknown): boolean {
  const cause = error instanceof OrchaError ? error.cause : undefined;
  return cause instanceof pg.DatabaseError && cause.code === "23505" && cause.constraint === "receipts_key";
}

/** Tells whether a session with this name was there already, or had been. */
export function isNameTaken(error: unknown): boolean {
  return error instanceof pg.DatabaseError && error.code === "23505" && error.table === "sessions";
}

/** Tells whether a connection is as good as before after a failed statement. */
export function isUsableAfter(error: unknown): boolean {
  // Class 57 is the server going away or a statement cut off; XX is damage inside the server.
  return error instanceof pg.DatabaseError && error.severity === "ERROR" && !/^(?:57P|XX)/.test(error.code ?? "");
}

/** Says a failure of the driver or the server in an operator's words. */
export function toStorageError(error: unknown): OrchaError {
  if (error instanceof OrchaError) return error;
  return new OrchaError("storage_error", reasonOf(error), { cause: error });
}

function reasonOf(error: unknown): string {
  if (error instanceof pg.DatabaseError) return serverReason(error.code ?? "");
  const text = error instanceof Error ? error.message : "";
  if (text.startsWith("timeout exceeded")) return "no connection to the database was free in time";
  if (text.startsWith("Query read timeout")) return "the database did not answer in time";
  if (text.startsWith("Connection terminated")) return "the connection to the database broke off";
  if (text.startsWith("Cannot use a pool")) return "the store is closed";
  // Errors of Node's sockets and look-ups have such codes.
  const code = error instanceof Error && "code" in error ? String(error.code) : "";
  return code.startsWith("E") ? "the database can't be reached" : "the database failed";
}

function serverReason(code: string): string {
  if (code === "53100") return "the database's disk is full";
  if (code === "53300") return "the database takes no more connections";
  if (code === "25006") return "the database is read-only";
  if (code === "57014") return "the database took too long for a statement";
  if (code.startsWith("57P")) return "the database is starting or shutting down";
  if (code.startsWith("08")) return "the connection to the database broke off";
  if (code.startsWith("28")) return "the database refused the user or the password";
  if (code === "3D000") return "the database does not exist";
  if (code === "42501") return "the database user may not do this";
  if (code === "42P01" || code === "3F000") return "the database's tables are gone";
  if (code.startsWith("XX")) return "the database is damaged";
  return "the database failed";
}
