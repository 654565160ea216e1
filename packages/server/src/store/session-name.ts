import type { SessionRef } from "./store.ts";

/** A session's full name as one text, for maps: no two sessions share it. */
export function sessionName({ tenant, agent, sessionId }: SessionRef): string {
  return JSON.stringify([tenant, agent, sessionId]);
}
