import type { LanguageModelV4, SharedV4ProviderOptions } from "@ai-sdk/provider";
import type { ToolCallContent, ToolResultContent, Turn, Usage } from "@orcha/contract";
import type { LoopTool } from "./loop-tool.ts";

/** The structured answer that a run must end with. */
export interface OutputFormat {
  /** JSON Schema. */
  schema: Record<string, unknown>;
  /** Answers the value, or what is wrong with it. */
  check: (value: unknown) => Promise<{ value: unknown } | { fault: string }>;
}

/** How the model is asked. */
export interface ModelSettings {
  maxOutputTokens?: number;
  temperature?: number;
  topP?: number;
  seed?: number;
  stopSequences?: string[];
  headers?: Record<string, string>;
  /** By provider, as the AI SDK's packages document them. */
  providerOptions?: SharedV4ProviderOptions;
  /** How often a call that may be repeated is, by the provider's word; default 2. */
  maxRetries?: number;
}

/** A round that was cut after the model's turn: what the log has of it. */
export interface OpenRound {
  /** The turn's calls, in the model's order. */
  calls: readonly ToolCallContent[];
  /** Results that are stored: their calls never run again. */
  results: ReadonlyMap<string, ToolResultContent>;
  /** Calls whose request the log has, of an action, a skill or a client action. */
  requested: ReadonlySet<string>;
  /** The child sessions of calls that were delegated. */
  delegated: ReadonlyMap<string, { agent: string; sessionId: string }>;
}

/** What a run starts or goes on from. */
export interface LoopInput {
  model: LanguageModelV4;
  /** Read at each round, since skills add to them. */
  instructions: () => string;
  /** The conversation so far, the user's last message included; it may hold results of the open round. */
  turns: readonly Turn[];
  tools: readonly LoopTool[];
  output?: OutputFormat;
  settings?: ModelSettings;
  /** Ends the run, or lets it pause. */
  signal: AbortSignal;
  /** Milliseconds since 1970. */
  now: () => number;
  /** How many action rounds there may be; default 10. The next one ends the run with `execution_failed`. */
  maxRounds?: number;
  /**
   * Whether a round is made again whose stream broke after text was shown; default true. What was shown is then taken
   * back, which a reader of deltas can't do.
   */
  repeatsShown?: boolean;
  /** Where a run goes on after a pause or a crash. */
  resume?: {
    /** The run's assistant turns so far, which count its rounds. */
    round: number;
    /** Those since the last pause, which count towards `maxRounds`; default `round`. */
    actionRounds?: number;
    /** What earlier rounds of the run used. */
    usage?: Usage;
    /** When the run started, in milliseconds since 1970. */
    startedAt?: number;
    open?: OpenRound;
  };
}
