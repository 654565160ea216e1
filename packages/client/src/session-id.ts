import { createIdempotencyKey } from "./idempotency-key.ts";

/**
 * Names the session to be, so that the caller has its id before the server answers. A caller's own key names it: the key
 * belongs to the session, so a second run with it would otherwise be another one.
 */
export function createSessionId(key = createIdempotencyKey()): string {
  return `ses_${key}`.replace(/[^\w.-]/g, "_").slice(0, 128);
}
