import { invalidInput, OrchaError } from "@orcha/contract";
import { ORPCError, ValidationError } from "@orpc/server";
import { issuePath } from "./intake.ts";

/** Called with every error that is the server's own fault; the caller only learns its code. */
export type OnError = (error: unknown, at: { operation: string }) => void;

/** Turns whatever went wrong into an error of the table; only its own words ever reach a caller. */
export function toOrchaError(error: unknown): OrchaError {
  if (error instanceof OrchaError) return error;
  if (error instanceof ORPCError) return fromTransport(error);
  return new OrchaError("execution_failed", "the server failed", { cause: error });
}

/** The transport's own refusals: its message would echo the input. */
function fromTransport(error: ORPCError<string, unknown>): OrchaError {
  if (error.cause instanceof ValidationError) {
    const [issue] = error.cause.issues;
    const path = (issue?.path ?? []).map((segment) => (typeof segment === "object" ? segment : { key: segment }));
    return invalidInput(issuePath(path), issue?.message ?? "is invalid");
  }
  if (error.status === 400) return new OrchaError("invalid_input", "the request could not be read", { cause: error });
  return new OrchaError("execution_failed", "the server failed", { cause: error });
}

/** Whether the error is worth the operator's attention, not only the caller's. */
export function isServerFault(error: OrchaError): boolean {
  return error.status >= 500;
}

/** The error as oRPC's envelope carries it. */
export function toWire(error: OrchaError): ORPCError<string, { retryable: boolean; details?: object }> {
  const { code, status, message, retryable, details } = error;
  return new ORPCError(code, {
    defined: true,
    status,
    message,
    data: { retryable, ...(details === undefined ? {} : { details }) },
    cause: error,
  });
}

/** The error as an answer of its own, outside of oRPC; a 401 says how to do better, as HTTP asks. */
export function toResponse(error: OrchaError): Response {
  const headers: Record<string, string> = error.status === 401 ? { "www-authenticate": "Bearer" } : {};
  return Response.json({ json: toWire(error).toJSON() }, { status: error.status, headers });
}
