import { OrchaError } from "@orcha/contract";
import type { SessionRef } from "./store.ts";

/** Thrown inside a write when another one with the same receipt key was faster. */
export class ReceiptExists extends Error {
  override readonly name = "ReceiptExists";
}

/** Builds the error for an id that is or was taken. */
export function sessionExists(ref: SessionRef): OrchaError {
  return new OrchaError("session_exists", `session ${JSON.stringify(ref.sessionId)} exists, or did`, {
    details: { path: "sessionId" },
  });
}

/** Builds the error for a session that is to be renamed and isn't there. */
export function nothingToPublish(ref: SessionRef): OrchaError {
  return new OrchaError("session_not_found", `no session ${JSON.stringify(ref.sessionId)} to publish`);
}
