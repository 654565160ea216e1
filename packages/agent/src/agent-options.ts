import type { ModelReference } from "./default-model.ts";
import type { ModelSettings } from "./loop-input.ts";
import type { CacheOptions } from "./response-cache.ts";
import type { AgentTool } from "./tool.ts";

/** What an agent is made of; the model's settings stand among it. */
export interface AgentOptions extends ModelSettings {
  /** The system prompt; never part of the history. */
  instructions?: string;
  name?: string;
  /** Default: `setDefaultModel`'s, else what the environment says. */
  model?: ModelReference;
  /** Named functions, or definitions with a schema; their names differ. */
  tools?: readonly AgentTool[];
  /** Whether the same prompt to the same conversation gets the same answer again; default false. */
  cache?: boolean | CacheOptions;
  /** How often in one turn the model may act on tools' results; default 10. */
  maxRounds?: number;
}

/** How a turn may be stopped. */
export interface StreamOptions {
  signal?: AbortSignal;
}

/** How a turn may be followed and stopped. */
export interface ChatOptions extends StreamOptions {
  /** Called with the whole text of the answer in the making, which starts anew after each round of tools. */
  onText?: (text: string) => void;
}
