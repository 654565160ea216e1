import type { AgentTypes, AnyAgentTypes, ErrorDetails, RecordedAnswer } from "@orcha/contract";
import { isOrchaError, type OrchaErrorCode } from "./error.ts";

/** A failure that is known to be one: the server refused, or the input could not be sent. */
export interface FailedExecution {
  status: "failed";
  sessionId: string;
  error: { code: OrchaErrorCode; message: string; retryable: boolean; details?: ErrorDetails };
}

/** How an execution ended; narrow by `status`. */
export type ExecutionResult<T extends AgentTypes = AnyAgentTypes> = RecordedAnswer<T> | FailedExecution;

/** Work on a session that is under way, whether or not anyone reads its result. */
export interface Execution<T extends AgentTypes = AnyAgentTypes> {
  readonly sessionId: string;
  /** Resolves for expected failures too; rejects with `OrchaError` only where the outcome is unknown. */
  readonly result: Promise<ExecutionResult<T>>;
}

/** Wraps an answer that is on its way. */
export function createExecution(sessionId: string, answer: Promise<RecordedAnswer>): Execution {
  const result = settle(sessionId, answer);
  // Nobody has to read the result: one that rejects must not end the process.
  void result.catch(() => undefined);
  return Object.freeze({ sessionId, result });
}

async function settle(sessionId: string, answer: Promise<RecordedAnswer>): Promise<ExecutionResult> {
  try {
    return await answer;
  } catch (error) {
    if (!isOrchaError(error) || isOutcomeUnknown(error.status, error.code)) throw error;
    const { code, message, retryable, details } = error;
    return { status: "failed", sessionId, error: { code, message, retryable, ...(details && { details }) } };
  }
}

/** Without a status no server answered; what was refused before it was sent has a code of the server's all the same. */
function isOutcomeUnknown(status: number | undefined, code: OrchaErrorCode): boolean {
  if (status !== undefined) return false;
  return code === "network" || code === "timeout" || code === "aborted" || code === "unexpected";
}
