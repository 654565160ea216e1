import type { AgentTypes } from "@orcha/contract";
import type { QueryClient } from "@tanstack/react-query";
import type { AgentClient } from "../agent-client.ts";
import { toOrchaError, type OrchaError } from "../error.ts";
import { viewOf, type HistoryView } from "./history-view.ts";
import { historyKey, type OrchaKey } from "./keys.ts";
import { isOpening } from "./opening.ts";

/** How a history is read. */
export interface HistoryOptions {
  /** Items of a page, 1 to 100; 50 by default. Where several components show a session, the first one's counts. */
  pageSize?: number;
}

/** A history as TanStack Query takes it, for `prefetchQuery`, loaders and server rendering. */
export interface HistoryQuery<T extends AgentTypes> {
  queryKey: OrchaKey;
  queryFn: (context: { client: QueryClient }) => Promise<HistoryView<T>>;
  staleTime: number;
  structuralSharing: (known: unknown, next: unknown) => unknown;
  retry: (failures: number, error: OrchaError) => boolean;
  retryDelay: (failures: number) => number;
}

/**
 * Describes a session's history as a query: its newest page, which the hooks' tail then keeps up. It needs no browser;
 * prefetched on a server and hydrated, it shows at once and is not read again.
 */
export function historyQuery<T extends AgentTypes>(
  agentClient: AgentClient<T>,
  sessionId: string,
  { pageSize }: HistoryOptions = {},
): HistoryQuery<T> {
  const queryKey = historyKey(agentClient, sessionId);
  return {
    queryKey,
    // What is there is kept up by a tail, also where the app invalidates everything. Without the signal, since what a
    // component that left has asked for is welcome to the next one: in strict mode that is the same.
    queryFn: async ({ client }) =>
      client.getQueryData<HistoryView<T>>(queryKey) ?? viewOf(await agentClient.history(sessionId, { pageSize })),
    staleTime: Infinity,
    structuralSharing: newest,
    // The client has repeated already what may pass; only a session that is being made comes with time.
    retry: (_failures, error) => toOrchaError(error).code === "session_not_found" && isOpening(sessionId),
    retryDelay: (failures) => Math.min(1000, 50 * 2 ** failures),
  };
}

/** Of two writes that cross, the one with more of the tail in it stays. */
function newest(known: unknown, next: unknown): unknown {
  return isView(known) && isView(next) && known.revision > next.revision ? known : next;
}

function isView(value: unknown): value is HistoryView {
  return typeof value === "object" && value !== null && "revision" in value;
}
