// Connecting.
export { createOrcha, type AgentTypesFrom, type Orcha } from "./orcha.ts";
export type { Asked, OrchaOptions, RetryOptions } from "./options.ts";

// One agent's calls.
export type {
  AgentClient,
  AppendInput,
  CallOptions,
  CompleteOptions,
  Content,
  CreateOptions,
  ForkOptions,
  ListOptions,
  PageOptions,
  PagesOptions,
  RestoreOptions,
  ResumeInput,
  RunInput,
  TailOptions,
  UpdateOptions,
  WriteOptions,
} from "./agent-client.ts";
export type { Execution, ExecutionResult, FailedExecution } from "./execution.ts";
export type {
  CompletedRun,
  DelegatingRun,
  EvaluationOutcome,
  FailedRun,
  InterruptedRun,
  RunFrame,
  RunResult,
  StreamingRun,
  WaitingRun,
} from "@orcha/contract";
export type {
  EndFrame,
  ItemFrame,
  ReadyFrame,
  ReconnectFrame,
  SnapshotFrame,
  TailFrame,
  TextFrame,
} from "@orcha/contract";
export type { Method, Outcome } from "./method.ts";

// Errors.
export { isOrchaError, OrchaError, type ClientErrorCode, type OrchaErrorCode, type OrchaErrorOptions } from "./error.ts";
export type { ErrorCode, ErrorDetails } from "@orcha/contract";

// What an agent is.
export type { ActionTypes, Agent, Agents, AgentTypes, AgentTypesOf, AnyAgentTypes, Unlisted } from "@orcha/contract";

// Sessions and their history.
export type {
  ActionItem,
  ActionItemOf,
  AppendReceipt,
  ClientActionItem,
  ClientActionItemOf,
  ClientActionOutcome,
  EvaluationItem,
  EvaluationMetric,
  FileContent,
  HistoryItem,
  ItemType,
  Lineage,
  MediaContent,
  MessageContent,
  MessageItem,
  Metadata,
  PageFields,
  PendingClientAction,
  PendingClientActionOf,
  RecordedAnswer,
  RestoredSession,
  RunStatus,
  SessionCompletedItem,
  SessionHistory,
  SessionList,
  SessionSnapshot,
  SessionStatus,
  SettledClientActionItem,
  SkillItem,
  Snapshot,
  SubagentItem,
  TextContent,
  UnknownItem,
  UnreadableItem,
  Usage,
  WaitingClientActionItem,
} from "@orcha/contract";

// The log, and the model's view.
export type {
  AgentMessage,
  AgentToolCall,
  EventError,
  EventInput,
  EventOf,
  EventType,
  Finding,
  FindingCode,
  SessionEvent,
  SessionEvents,
  ToolResult,
  UnknownEvent,
} from "@orcha/contract";
