import type { ErrorCode, ErrorDetails, Unlisted } from "@orcha/contract";

/** A failure that no server answered: the outcome of the call is unknown, or it never left. */
export type ClientErrorCode = "network" | "timeout" | "aborted" | "unexpected";

/** Every code an `OrchaError` may have; `Unlisted` stands for those of a newer server. */
export type OrchaErrorCode = ErrorCode | ClientErrorCode | Unlisted;

/** What an `OrchaError` knows beyond its code and message. */
export interface OrchaErrorOptions {
  /** Whether the same call may succeed later; by default only after `network` and `timeout`. */
  retryable?: boolean;
  details?: ErrorDetails;
  status?: number;
  cause?: unknown;
}

// In the global registry, so that two copies of this package recognise each other's errors.
const marker: unique symbol = Symbol.for("@orcha/client/OrchaError");

/** The one error that calls of this client throw. */
export class OrchaError extends Error {
  override readonly name = "OrchaError";
  readonly code: OrchaErrorCode;
  readonly retryable: boolean;
  readonly details: ErrorDetails | undefined;
  /** The HTTP status that came with it; absent where no Orcha server answered. */
  readonly status: number | undefined;
  readonly [marker] = true;

  constructor(code: OrchaErrorCode, message: string, options: OrchaErrorOptions = {}) {
    super(message, options.cause === undefined ? {} : { cause: options.cause });
    this.code = code;
    this.retryable = options.retryable ?? (code === "network" || code === "timeout");
    this.details = options.details;
    this.status = options.status;
  }
}

/** Tells whether the value is an `OrchaError`, even one of another copy of this package. */
export function isOrchaError(value: unknown): value is OrchaError {
  return typeof value === "object" && value !== null && marker in value;
}

/** Gives anything thrown a code, keeping it as the cause. */
export function toOrchaError(error: unknown, retryable = false): OrchaError {
  if (isOrchaError(error)) return error;
  const reason = error instanceof Error ? error.message : String(error);
  return new OrchaError("unexpected", `the call failed in the client: ${reason}`, { cause: error, retryable });
}

/** Builds the error for a call that its own signal ended. */
export function abortedBy(signal: AbortSignal): OrchaError {
  return new OrchaError("aborted", "the call was aborted", { cause: signal.reason });
}

/** Builds the error for input that is refused before it is sent. */
export function invalidInput(path: string, reason: string): OrchaError {
  return new OrchaError("invalid_input", `${path} ${reason}`, { details: { path } });
}
