import { contract, OrchaError, type OperationName } from "@orcha/contract";
import { call as callProcedure, type AnyProcedure } from "@orpc/server";
import type { Call } from "./call.ts";
import { chosen, type RestRoute } from "./rest-routes.ts";
import { readBody, readQuery, type RestSource } from "./rest-input.ts";
import { toRestAnswer, toSplicedAnswer } from "./rest-answer.ts";
import type { Reply } from "./reply.ts";
import type { OrchaRouter, RequestContext } from "./router.ts";
import { isSpliced, type Splicing } from "./splice.ts";
import { takesStream } from "./event-stream.ts";
import { isStreamed, type Streaming } from "./streaming.ts";

/** What REST stands on. */
export interface RestParts {
  router: OrchaRouter;
  /** Without it every answer takes the ordinary path. */
  splicing: Splicing | undefined;
  streaming: Streaming;
}

/** The operations of a request, told by its path and method. Throws `invalid_input` for a method that the path has not. */
export function operationsOf({ methods }: RestRoute, { method }: Request): readonly OperationName[] {
  const operations = methods.get(method === "HEAD" ? "GET" : method);
  if (operations) return operations;
  throw new OrchaError("invalid_input", `this path takes ${[...methods.keys()].join(", ")}, not ${method}`);
}

/** Answers a request for one of these operations. Throws what the operation throws. */
export async function answerRest(parts: RestParts, operations: readonly OperationName[], call: Call, source: RestSource): Promise<Reply | Response> {
  const [first = "get"] = operations;
  const reads = contract[first]["~orpc"].route.method === "GET";
  const input = reads ? readQuery(source, first) : await readBody(source);
  const operation = chosen(operations, input);
  if (parts.splicing && isSpliced(operation)) return toSplicedAnswer(await parts.splicing.answer(operation, call, input));
  if (isStreamed(operation) && takesStream(source.request)) return parts.streaming.answer(operation, call, input, source.request);
  const procedure: AnyProcedure = parts.router[operation];
  const { request } = source;
  // Headers are there without anything to wait for.
  const signal = (): AbortSignal => (request.method === "HEAD" ? AbortSignal.abort() : request.signal);
  const context: RequestContext = { call, signal };
  const answer: unknown = await callProcedure(procedure, input, { context });
  const agent = encodeURIComponent(source.names["agent"] ?? "");
  return toRestAnswer(operation, answer, `/api/agents/${agent}/sessions`);
}
