import { invalidInput, OrchaError, type ErrorBody } from "@orcha/contract";
import { ORPCError, ValidationError } from "@orpc/server";
import { issuePath, issueReason } from "./intake.ts";

/** Where an error came up: in a request, or in what a server does by itself for a session. */
export interface ErrorPlace {
  /** The request's operation, or what was being done, such as "run" or "sweep". */
  operation: string;
  requestId?: string;
  sessionId?: string;
}

/** Called with every error that is the server's own fault; a caller only learns its code. */
export type OnError = (error: unknown, at: ErrorPlace) => void;

/** An error of the table says all there is in a line; only what nobody foresaw needs its stack. */
export const logError: OnError = (error, { operation, requestId, sessionId }) => {
  const where = requestId === undefined ? (sessionId === undefined ? "" : ` for session ${sessionId}`) : ` in request ${requestId}`;
  console.error(`orcha: ${operation} failed${where}`, error instanceof OrchaError ? inOneLine(error) : error);
};

function inOneLine({ code, message, cause }: OrchaError): string {
  // Of several addresses that were tried, Node says no more than a code.
  const why = cause instanceof Error ? cause.message || ("code" in cause ? String(cause.code) : cause.name) : "";
  return `${code}: ${message}${why === "" ? "" : ` (${why.split("\n", 1).join()})`}`;
}

/** What an operator is told of a server's fault: what nobody foresaw as it was thrown, with its stack. */
export function reportOf(error: OrchaError): unknown {
  return error.code === "execution_failed" ? (error.cause ?? error) : error;
}

/** Turns whatever went wrong into an error of the table; only its own words ever reach a caller. */
export function toOrchaError(error: unknown): OrchaError {
  if (error instanceof OrchaError) return error;
  if (error instanceof ORPCError) return fromTransport(error);
  return new OrchaError("execution_failed", "the server failed", { cause: error });
}

/** The transport's own refusals: its message would echo the input. */
function fromTransport(error: ORPCError<string, unknown>): OrchaError {
  if (error.cause instanceof ValidationError) return schemaFault(error.cause.issues);
  if (error.status === 400) return new OrchaError("invalid_input", "the request could not be read", { cause: error });
  return new OrchaError("execution_failed", "the server failed", { cause: error });
}

/** The first of a schema's issues as an error of the table. */
export function schemaFault([issue]: ValidationError["issues"]): OrchaError {
  const path = (issue?.path ?? []).map((segment) => (typeof segment === "object" ? segment : { key: segment }));
  return invalidInput(issuePath(path), issue ? issueReason(issue) : "is invalid");
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

/** The error as an answer of its own, in oRPC's envelope. */
export function toResponse(error: OrchaError): Response {
  return Response.json({ json: toWire(error).toJSON() }, { status: error.status, headers: headersOf(error) });
}

/** The error as REST answers it. */
export function toProblem(error: OrchaError): Response {
  const { code, message, retryable, details } = error;
  const body: ErrorBody = { code, message, retryable, ...(details === undefined ? {} : { details }) };
  return Response.json(body, { status: error.status, headers: headersOf(error) });
}

/** Tells whether errors at this path are plain bodies; elsewhere they come in oRPC's envelope. */
export function isRest(path: string): boolean {
  return /^\/(api(\/|$)|readyz$)/.test(path);
}

/** What HTTP says beside an error: how to do better on a 401, and when to come again. */
export function headersOf({ status, details }: Pick<OrchaError, "status" | "details">): Record<string, string> {
  const wait = details?.["retryAfterMs"];
  return {
    ...(status === 401 ? { "www-authenticate": "Bearer" } : {}),
    ...(typeof wait === "number" && wait >= 0 ? { "retry-after": String(Math.ceil(wait / 1000)) } : {}),
  };
}
