import type { AgentTypes, SessionList } from "@orcha/contract";
import type { AgentClient, ListOptions } from "../agent-client.ts";
import { sessionsKey, type OrchaKey } from "./keys.ts";

/** Which sessions; filters are exact, and all must hold. */
export type SessionsFilter<T extends AgentTypes> = Omit<ListOptions<T>, "cursor" | "signal">;

/** Which sessions, and how they are kept up to date. */
export interface SessionsOptions<T extends AgentTypes> extends SessionsFilter<T> {
  /** Reads them again each so many milliseconds, while the window is visible; by default not. */
  pollMs?: number;
}

/** A list of sessions as TanStack Query takes it, for `prefetchInfiniteQuery`, loaders and server rendering. */
export interface SessionsQuery<T extends AgentTypes> {
  queryKey: OrchaKey;
  queryFn: (context: { pageParam: string | undefined }) => Promise<SessionList<T>>;
  initialPageParam: string | undefined;
  getNextPageParam: (last: SessionList<T>) => string | undefined;
  retry: false;
}

/** Describes a list of sessions as an infinite query. */
export function sessionsQuery<T extends AgentTypes>(agentClient: AgentClient<T>, filter: SessionsFilter<T> = {}): SessionsQuery<T> {
  return {
    queryKey: [...sessionsKey(agentClient), filter],
    // JSON, which a server may send a cache as, makes null of the first page's parameter.
    queryFn: ({ pageParam }) => agentClient.list({ ...filter, cursor: pageParam ?? undefined }),
    initialPageParam: undefined,
    getNextPageParam: ({ nextCursor }) => nextCursor,
    // The client has repeated already what may pass.
    retry: false,
  };
}
