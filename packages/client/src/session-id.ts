import { createIdempotencyKey } from "./idempotency-key.ts";

/** Makes the id of a session to be, so that the caller has it before the server answers. */
export function createSessionId(): string {
  return `ses_${createIdempotencyKey().replaceAll("-", "")}`;
}
