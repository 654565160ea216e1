"use client";

import type { AgentTypes, SessionSnapshot } from "@orcha/contract";
import { useQuery, useQueryClient, useSuspenseQuery } from "@tanstack/react-query";
import { useEffect, useMemo } from "react";
import type { AgentClient } from "../agent-client.ts";
import { toOrchaError } from "../error.ts";
import type { Conversation, ConversationItem, PendingActionOf, SendingMessage } from "./conversation.ts";
import { errorOf } from "./failure.ts";
import { historyQuery, type HistoryOptions } from "./history-query.ts";
import type { HistoryView, Sending } from "./history-view.ts";
import { liveHistory, type LiveHistory } from "./live-history.ts";
import { unawaited } from "./unawaited.ts";

/**
 * Shows a session and keeps it up to date: its newest page, older ones on demand, and what happens from then on. All
 * components that show the same session share one connection, which ends with the last of them.
 */
export function useHistory<T extends AgentTypes>(agentClient: AgentClient<T>, sessionId: string, options?: HistoryOptions): Conversation<T> {
  // Of another session nothing is shown meanwhile, whatever an app's defaults say: its approvals would be answered in this one.
  const { data, status, error, refetch } = useQuery({ ...historyQuery(agentClient, sessionId, options), placeholderData: undefined });
  const conversation = useConversation(agentClient, sessionId, data);
  return {
    ...conversation,
    status,
    error: conversation.error ?? (error ? toOrchaError(error) : undefined),
    retry: () => (data ? conversation.retry() : void refetch()),
  };
}

/** A conversation whose first page is there. */
export interface SuspenseConversation<T extends AgentTypes> extends Conversation<T> {
  snapshot: SessionSnapshot<T>;
}

/** Like `useHistory`, for React's Suspense: it waits for the first page, and throws where it can't be had. */
export function useSuspenseHistory<T extends AgentTypes>(
  agentClient: AgentClient<T>,
  sessionId: string,
  options?: HistoryOptions,
): SuspenseConversation<T> {
  const { data } = useSuspenseQuery(historyQuery(agentClient, sessionId, options));
  return { ...useConversation(agentClient, sessionId, data), snapshot: data.snapshot };
}

function useConversation<T extends AgentTypes>(
  agentClient: AgentClient<T>,
  sessionId: string,
  view: HistoryView<T> | undefined,
): Conversation<T> {
  const queryClient = useQueryClient();
  const pin = view?.pin.key;
  const live = useMemo(() => liveHistory(queryClient, agentClient, sessionId), [queryClient, agentClient, sessionId]);
  // Another pin is another page, which somebody else wrote to the cache.
  useEffect(() => (pin ? live.open() : undefined), [live, pin]);
  return {
    ...useMemo(() => callsOf(live, agentClient, sessionId), [live, agentClient, sessionId]),
    items: useItems(live, view),
    pendingClientActions: usePending(live, view),
    streaming: view?.streaming,
    snapshot: view?.snapshot,
    isRunning: isRunning(view),
    hasOlder: view !== undefined && view.start > 0,
    isFetchingOlder: view?.older.isFetching ?? false,
    olderError: errorOf(view?.older.error),
    status: view ? "success" : "pending",
    error: errorOf(view?.error),
    connection: view?.connection ?? "connecting",
    ended: view?.ended,
  };
}

type Calls<T extends AgentTypes> = Pick<Conversation<T>, "fetchOlder" | "send" | "resume" | "pause" | "stop" | "retry">;

function callsOf<T extends AgentTypes>(live: LiveHistory<T>, agentClient: AgentClient<T>, sessionId: string): Calls<T> {
  return {
    fetchOlder: () => live.fetchOlder(),
    send: (content, options) => live.send(content, options?.clientCapabilities),
    resume: () => agentClient.resume(sessionId).result,
    pause: () => unawaited(agentClient.pause(sessionId)),
    stop: () => unawaited(agentClient.stop(sessionId)),
    retry: () => live.reconnect(),
  };
}

function useItems<T extends AgentTypes>(live: LiveHistory<T>, view: HistoryView<T> | undefined): readonly ConversationItem<T>[] {
  // The same union, which the compiler can't take apart before it knows the agent.
  const items = (view?.items ?? none) as unknown as readonly ConversationItem<T>[];
  const sending = view?.sending ?? none;
  return useMemo(() => (sending.length === 0 ? items : [...items, ...sending.map((sent) => messageOf(live, sent))]), [live, items, sending]);
}

function messageOf<T extends AgentTypes>(live: LiveHistory<T>, sent: Sending): SendingMessage {
  const { key, content, createdAt, error } = sent;
  return {
    id: `sending:${key}`,
    type: "message",
    role: "user",
    content,
    createdAt,
    sending: {
      status: error ? "failed" : "sending",
      error: errorOf(error),
      retry: () => void live.retry(sent),
      discard: () => live.discard(sent),
    },
  };
}

function usePending<T extends AgentTypes>(live: LiveHistory<T>, view: HistoryView<T> | undefined): readonly PendingActionOf<T>[] {
  // A session that is gone tells of no end of what it waited for.
  const pending = !view || view.ended ? none : view.snapshot.pendingClientActions;
  const answering = view?.answering;
  return useMemo(() => {
    const actions = pending.map((action) => {
      const { callId } = action;
      const state = answering?.[callId];
      return {
        ...action,
        isAnswering: state !== undefined && !state.error,
        error: errorOf(state?.error),
        answer: (output: unknown) => live.answer({ callId, output }),
        deny: (reason?: string) => live.answer({ callId, deny: true, ...(reason === undefined ? {} : { reason }) }),
      };
    });
    // Which name has which output is known to the types alone.
    return actions as unknown as PendingActionOf<T>[];
  }, [live, pending, answering]);
}

function isRunning<T extends AgentTypes>(view: HistoryView<T> | undefined): boolean {
  if (!view || view.ended) return false;
  const { snapshot, sending, answering } = view;
  if (snapshot.runStatus === "running" || snapshot.runStatus === "waiting_for_subagent") return true;
  return [...sending, ...Object.values(answering)].some(({ error }) => !error);
}

const none: readonly never[] = [];
