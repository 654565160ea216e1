import type { ErrorDetails } from "@orcha/contract";
import { OrchaError, toOrchaError, type OrchaErrorCode } from "../error.ts";

/** An error as plain data: what a cache holds may be written down, and read by a later life of the app. */
export interface Failure {
  code: OrchaErrorCode;
  message: string;
  retryable: boolean;
  details?: ErrorDetails | undefined;
  status?: number | undefined;
}

/** The errors themselves, with their causes, for as long as this life goes on. */
const errors = new WeakMap<Failure, OrchaError>();

/** What is kept of anything thrown. */
export function toFailure(cause: unknown): Failure {
  const error = toOrchaError(cause);
  const { code, message, retryable, details, status } = error;
  const failure = { code, message, retryable, details, status };
  errors.set(failure, error);
  return failure;
}

/** The error that was kept; the same one each time. */
export function errorOf(failure: Failure | undefined): OrchaError | undefined {
  if (!failure) return undefined;
  const error = errors.get(failure) ?? new OrchaError(failure.code, failure.message, failure);
  errors.set(failure, error);
  return error;
}
