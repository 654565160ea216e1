"use client";

import type { AgentTypes, SessionSnapshot } from "@orcha/contract";
import { useInfiniteQuery } from "@tanstack/react-query";
import { useMemo } from "react";
import type { AgentClient } from "../agent-client.ts";
import { toOrchaError, type OrchaError } from "../error.ts";
import { sessionsQuery, type SessionsOptions } from "./sessions-query.ts";

/** An agent's sessions, as far as they are loaded. */
export interface Sessions<T extends AgentTypes> {
  /** The last changed first, each once. */
  sessions: readonly SessionSnapshot<T>[];
  hasMore: boolean;
  isFetchingMore: boolean;
  /** Loads the next ones. Never rejects; a failure is in `error`. */
  fetchMore: () => Promise<void>;
  status: "pending" | "error" | "success";
  error: OrchaError | undefined;
  /** Reads all that is loaded anew. Never rejects. */
  refetch: () => Promise<void>;
}

/**
 * Lists sessions. They are read again when the window gets the focus, when a session that this app shows or runs changes,
 * and each `pollMs`, if given.
 */
export function useSessions<T extends AgentTypes>(agentClient: AgentClient<T>, options: SessionsOptions<T> = {}): Sessions<T> {
  const { pollMs, ...filter } = options;
  const query = useInfiniteQuery({ ...sessionsQuery(agentClient, filter), refetchInterval: pollMs ?? false });
  const { data, status, error, hasNextPage, isFetchingNextPage, fetchNextPage, refetch } = query;
  const sessions = useMemo(() => {
    // One that changed between two pages is on both.
    const byId = new Map<string, SessionSnapshot<T>>();
    for (const session of data?.pages.flatMap(({ items }) => items) ?? []) if (!byId.has(session.sessionId)) byId.set(session.sessionId, session);
    return [...byId.values()];
  }, [data]);
  return {
    sessions,
    hasMore: hasNextPage,
    isFetchingMore: isFetchingNextPage,
    fetchMore: async () => void (await fetchNextPage()),
    status,
    error: error ? toOrchaError(error) : undefined,
    refetch: async () => void (await refetch()),
  };
}
