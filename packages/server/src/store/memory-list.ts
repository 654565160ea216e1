import type { SessionView } from "@orcha/contract";
import type { ListQuery, SessionRef } from "./store.ts";

/** What a list looks at. */
export interface ListedSession {
  ref: SessionRef;
  view: SessionView;
}

/** Tells whether a list that is asked for holds the session. */
export function matches(session: ListedSession, query: ListQuery): boolean {
  const { snapshot } = session.view;
  if (session.ref.tenant !== query.tenant || session.ref.agent !== query.agent) return false;
  if (snapshot.lineage?.origin === "delegated") return false;
  if (query.status !== undefined && snapshot.status !== query.status) return false;
  if (query.runStatus !== undefined && snapshot.runStatus !== query.runStatus) return false;
  for (const [key, value] of Object.entries(query.metadata ?? {})) {
    if (!Object.hasOwn(snapshot.metadata, key) || snapshot.metadata[key] !== value) return false;
  }
  if (!query.after) return true;
  const updatedAt = Date.parse(snapshot.updatedAt);
  if (updatedAt !== query.after.updatedAt) return updatedAt < query.after.updatedAt;
  return session.ref.sessionId > query.after.sessionId;
}

/** Newest update first, ties by id. */
export function compare(left: ListedSession, right: ListedSession): number {
  const byTime = Date.parse(right.view.snapshot.updatedAt) - Date.parse(left.view.snapshot.updatedAt);
  if (byTime !== 0) return byTime;
  return left.ref.sessionId < right.ref.sessionId ? -1 : 1;
}
