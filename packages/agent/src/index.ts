// An agent and its conversation, in one process.
export { Agent } from "./agent.ts";
export type { AgentOptions, ChatOptions, StreamOptions } from "./agent-options.ts";
export type { CacheOptions } from "./response-cache.ts";
export type { ModelSettings } from "./loop-input.ts";

// Its tools and its model.
export { tool, type AgentTool, type PlainFunction, type ToolContext, type ToolDefinition } from "./tool.ts";
export { setDefaultModel, type ModelReference } from "./default-model.ts";

// Histories, and what is wrong with them.
export {
  checkHistory,
  HistoryError,
  OrchaError,
  repairHistory,
  type AgentMessage,
  type AgentToolCall,
  type Finding,
  type RepairedHistory,
  type RepairPolicy,
} from "@orcha/contract";
