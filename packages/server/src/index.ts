// The server, for any place that runs `fetch` handlers. `@orcha/server/node` listens; `/sqlite` keeps a file.
export { createApp, createService, type AppOptions, type Service } from "./app.ts";
export {
  type Action,
  type ActionContext,
  type AgentImplementation,
  type Evaluation,
  type EvaluationContext,
  type Implementations,
  type Score,
  type SkillText,
} from "./runs/implementation.ts";
export { type DrivenRun, type ModelFor } from "./runs/runner.ts";
export { isScope, type Authenticate, type Principal } from "./auth.ts";
export { type CorsOptions } from "./cors.ts";
export { bearerTokens, type BearerToken } from "./tokens.ts";
export { type Surroundings } from "./surroundings.ts";
export { type ErrorPlace, type OnError } from "./failure.ts";

// Sessions without a transport, for tools and benchmarks.
export { type Call } from "./call.ts";
export { createSessions, type Sessions } from "./sessions.ts";

// Stores: the interface, and the one that keeps everything in memory.
export { memoryStore } from "./store/memory.ts";
export {
  type Current,
  type Decision,
  type Draft,
  type DueQuery,
  type EventRow,
  type Lease,
  type ListPosition,
  type ListQuery,
  type Move,
  type PageQuery,
  type Receipt,
  type ReceiptKey,
  type SessionRef,
  type SessionWrite,
  type Store,
  type StoredPage,
  type TouchedItem,
  type VersionRow,
  type WantedLease,
  type WriteCondition,
} from "./store/store.ts";

// Files in and out.
export { importSessions, type ImportedSession, type ImportOptions, type ImportParts, type ImportReport } from "./importing.ts";
export { exportSessionLog, exportSessions, type ExportParts, type ExportSelection } from "./exporting.ts";
