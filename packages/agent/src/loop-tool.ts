import type { EventDataByType } from "@orcha/contract";

/** One call of a tool, as the model made it. */
export interface LoopCall {
  callId: string;
  name: string;
  /** The parsed arguments; undefined where the model wrote no JSON. */
  arguments: unknown;
}

/** What every tool tells the model of itself. */
interface ToolBase {
  name: string;
  description?: string;
  /** JSON Schema of the arguments: an object's. */
  inputSchema: Record<string, unknown>;
}

/** Something that this process does for the model. What `execute` throws becomes an error result, not a failed run. */
export interface ActionTool extends ToolBase {
  kind: "action";
  /** Names the effect, for `action.requested`: the same for every try of the same call. */
  idempotencyKey?: (call: LoopCall) => string;
  execute: (call: LoopCall, signal: AbortSignal) => Promise<unknown>;
}

/** Something that a person or an app does: the run waits for it. */
export interface ClientActionTool extends ToolBase {
  kind: "client_action";
  /** Milliseconds until the call's default outcome applies. */
  expiresInMs?: number;
  /** Tells what is wrong with the arguments; such a call gets an error result and nobody is asked. */
  findFault?: (input: unknown) => Promise<string | undefined>;
}

/** Loads instructions: its one argument is the skill's `name`. */
export interface SkillTool extends ToolBase {
  kind: "skill";
  /** Answers nothing where no such skill exists. */
  load: (name: string) => Promise<{ alreadyLoaded: boolean } | undefined>;
}

/** Which child session a delegation goes to; `opened` is what the log says of it first. */
export interface Delegation {
  opened: "initiated" | "resumed";
  agent: string;
  sessionId: string;
}

/** Hands work to another agent's session. */
export interface SubagentTool extends ToolBase {
  kind: "subagent";
  /** Settles where the call goes, before anything starts. What it throws becomes an error result. */
  begin: (call: LoopCall) => Promise<Delegation>;
  /** Does the work, or goes on with it after a restart. */
  execute: (call: LoopCall, delegation: Delegation, signal: AbortSignal) => Promise<SubagentEnd>;
}

/** How a delegation ended, as the log says it. */
export interface SubagentEnd {
  type: "completed" | "paused" | "failed";
  data: Omit<EventDataByType["subagent.completed"], "callId" | "agent" | "sessionId">;
}

/** Answers the model and leaves no trace but the result. */
export interface SilentTool extends ToolBase {
  kind: "silent";
  execute: (call: LoopCall, signal: AbortSignal) => Promise<unknown>;
}

export type LoopTool = ActionTool | ClientActionTool | SkillTool | SubagentTool | SilentTool;

/** Says that a call's arguments don't fit, where a tool throws it: the log tells that from work which failed. */
export class InvalidArguments extends Error {
  override readonly name = "InvalidArguments";
  readonly code = "invalid_arguments";
}

/** Ends the whole run with `execution_failed` where a tool throws it. */
export class RunFailure extends Error {
  override readonly name = "RunFailure";
}
