import { createIdempotencyKey } from "./idempotency-key.ts";

/**
 * Names the session to be, so that the caller has its id before the server answers. A caller's own key names it: the key
 * belongs to the session, so a second run with it would otherwise be another one.
 */
export function createSessionId(key = createIdempotencyKey()): string {
  // What an id can't hold stays distinct: "a/1" and "a:1" are two keys.
  return `ses_${key.replace(/[^\w.-]/g, (character) => `_${character.charCodeAt(0)}`)}`.slice(0, 128);
}
