// Hooks.
export { useHistory, useSuspenseHistory, type SuspenseConversation } from "./react/use-history.ts";
export { useRun, type StartedRun } from "./react/use-run.ts";
export { useSessions, type Sessions } from "./react/use-sessions.ts";

// A conversation.
export type {
  Conversation,
  ConversationItem,
  PendingAction,
  PendingActionOf,
  SendingMessage,
  SendOptions,
} from "./react/conversation.ts";
export type { ConnectionState, StreamingAnswer } from "./react/history-view.ts";

// Queries, for prefetching and server rendering, and keys, for invalidating.
export { historyQuery, type HistoryOptions, type HistoryQuery } from "./react/history-query.ts";
export { sessionsQuery, type SessionsFilter, type SessionsOptions, type SessionsQuery } from "./react/sessions-query.ts";
export { historyKey, sessionsKey, type OrchaKey } from "./react/keys.ts";
