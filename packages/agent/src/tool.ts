import type { Schema } from "@orcha/contract";

/** What a tool knows of the call that it answers. */
export interface ToolContext {
  callId: string;
  /** Aborted when the turn is stopped. */
  signal: AbortSignal;
}

/** Any function, whatever it takes. */
export type PlainFunction = (...values: never[]) => unknown;

/**
 * A tool with a description and a schema. Arguments that don't fit are refused before `execute` is called; without
 * `input` it takes none.
 */
export interface ToolDefinition<Input = never> {
  /** 1 to 64 letters, digits, `_` or `-`. */
  name: string;
  description?: string;
  input?: Schema;
  execute: (input: Input, context: ToolContext) => unknown;
}

/** What `tools` takes: a named function, whose parameters are read from its source, or a definition. */
export type AgentTool = PlainFunction | ToolDefinition;

type OutputOf<S extends Schema> = NonNullable<S["~standard"]["types"]>["output"];

/** Defines a tool whose `execute` has the type of its `input` schema. */
export function tool<S extends Schema>(definition: {
  name: string;
  description?: string;
  input: S;
  execute: (input: OutputOf<S>, context: ToolContext) => unknown;
}): ToolDefinition<OutputOf<S>> {
  return definition;
}
