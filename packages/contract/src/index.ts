// Defining agents, in one file that server, clients and tests share.
export {
  defineAgent,
  defineAgents,
  reservedAgentKeys,
  type ActionDefinition,
  type ActionTypes,
  type ActionTypesOf,
  type Agent,
  type AgentDefinition,
  type Agents,
  type AgentTypes,
  type AgentTypesOf,
  type AnyAgentTypes,
  type ClientActionDefinition,
  type EvaluationDefinition,
  type SkillDefinition,
  type Unlisted,
} from "./agent.ts";
export { argumentsSchemaOf, jsonSchemaOf, type Schema } from "./json-schema.ts";

// The operations.
export { contract, maxAppend, maxBodyBytes, type Contract, type OperationMeta, type OperationName, type Scope } from "./contract.ts";
export {
  recordedAnswerSchema,
  type AppendReceipt,
  type RecordedAnswer,
  type RestoredSession,
  type ResumeAnswer,
  type SessionList,
  type ToolResult,
} from "./answer.ts";

export {
  evaluationOutcomeSchema,
  runResultSchema,
  type CompletedRun,
  type DelegatingRun,
  type EvaluationOutcome,
  type FailedRun,
  type InterruptedRun,
  type RunFrame,
  type RunResult,
  type StreamingRun,
  type WaitingRun,
} from "./run.ts";

export {
  tailFrameSchema,
  tailPieceSchema,
  type EndFrame,
  type ItemFrame,
  type ReadyFrame,
  type ReconnectFrame,
  type SnapshotFrame,
  type TailFrame,
  type TailPiece,
  type TextFrame,
} from "./tail.ts";

// Errors.
export {
  errorTable,
  invalidInput,
  OrchaError,
  type ErrorBody,
  type ErrorCode,
  type ErrorDetails,
} from "./error.ts";

// Sessions, their history and their log.
export {
  findMetadataFault,
  maxMetadataKeys,
  metadataSchema,
  sessionIdSchema,
  sessionSnapshotSchema,
  type PendingClientAction,
  type PendingClientActionOf,
  type SessionSnapshot,
  type Snapshot,
  type SessionStatus,
} from "./session.ts";
export {
  sessionEventsSchema,
  sessionHistorySchema,
  storedItemSchema,
  type ActionItem,
  type ActionItemOf,
  type ClientActionItem,
  type ClientActionItemOf,
  type EvaluationItem,
  type HistoryItem,
  type ItemType,
  type MessageItem,
  type PageFields,
  type SessionCompletedItem,
  type SessionEvents,
  type SessionHistory,
  type SettledClientActionItem,
  type SkillItem,
  type StoredItem,
  type SubagentItem,
  type UnknownEvent,
  type UnknownItem,
  type UnreadableItem,
  type WaitingClientActionItem,
} from "./history.ts";
export { evaluationMetricSchema, eventDataSchemas, isEventType, timestampSchema } from "./event-schema.ts";
export {
  eventVersion,
  type ClientActionCall,
  type ClientActionOutcome,
  type ClientActionResult,
  type EvaluationMetric,
  type EventDataByType,
  type EventError,
  type EventInput,
  type EventInputOf,
  type EventOf,
  type EventType,
  type Lineage,
  type MessageCreated,
  type Metadata,
  type RunStatus,
  type SessionEvent,
} from "./event.ts";
export { maxDataUriLength, maxTextBytes } from "./content-limits.ts";
export {
  assistantContentSchema,
  exceedsBytes,
  messageContentSchema,
  toolResultContentSchema,
  type AssistantContent,
  type FileContent,
  type MediaContent,
  type MessageContent,
  type ReasoningContent,
  type Replay,
  type TextContent,
  type ToolCallContent,
  type AssistantTextContent,
  type ToolResultContent,
} from "./content.ts";
export { addUsage, usageSchema, type Usage } from "./usage.ts";

// The model's view: messages in and out.
export {
  agentMessageSchema,
  findingSchema,
  type AgentMessage,
  type AgentToolCall,
  type Finding,
  type FindingCode,
} from "./agent-message.ts";
export {
  checkHistory,
  HistoryError,
  validateContinuation,
  validateHistory,
  type CheckedHistory,
  type KnownCall,
  type KnownCalls,
} from "./restore.ts";
export { repairHistory, type RepairedHistory, type RepairPolicy } from "./repair.ts";
export {
  answerOf,
  argumentsData,
  argumentsText,
  cancelledEvents,
  eventsFromMessages,
  messageOf,
  messagesFromEvents,
  outputText,
  referredCallIds,
  skillResultOf,
  subagentResultOf,
  Transcript,
  unansweredEvents,
  type LoggedCall,
  type OpenCall,
  type ToolOutcome,
  type Turn,
} from "./transcript.ts";

// From events to what is stored: pure, shared by every store.
export { isOpen, lookupKey, lookupsOf, lookupsOfItem } from "./lookup.ts";
export {
  project,
  resultMissing,
  unfinishedAction,
  type ItemChange,
  type PlacedItem,
  type Touched,
} from "./projection.ts";
export { projectSnapshot, openSnapshot, type StoredSnapshot } from "./snapshot.ts";
export { advance, type Advance, type ItemVersion, type OpenEvaluation, type OpenItem, type SessionView } from "./view.ts";

// JSON.
export {
  canonicalJson,
  copyJson,
  findJsonFault,
  formatPath,
  isPlainObject,
  maxJsonDepth,
  type JsonFault,
  type JsonObject,
  type JsonValue,
  type Path,
} from "./json.ts";
export { cutText } from "./cut-text.ts";
