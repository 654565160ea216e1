import {
  contract,
  findJsonFault,
  formatPath,
  isPlainObject,
  maxJsonDepth,
  OrchaError,
  type OperationName,
} from "@orcha/contract";
import { FetchHandler } from "@orpc/server/fetch";
import { StandardHandler, StandardRPCMatcher, type StandardCodec } from "@orpc/server/standard";
import type { Call } from "./call.ts";
import { toOrchaError, toWire } from "./failure.ts";
import { notJson, readJson, whole } from "./gate.ts";
import { jsonReply, type Reply } from "./reply.ts";
import type { OrchaRouter, RequestContext } from "./router.ts";
import { isSpliced, type Splicing } from "./splice.ts";
import { takesStream } from "./event-stream.ts";
import { isStreamed, type Streaming } from "./streaming.ts";

/*
 * The wire is plain JSON, both ways: `{ "json": input }` in, `{ "json": answer }` or `{ "json": error }` out. oRPC's own
 * codec would also carry dates, maps and the like, and walk every answer to look for them; nothing of that can be stored.
 */
const codec: StandardCodec = {
  async decode(request) {
    const envelope: unknown =
      request.method === "GET" ? parse(request.url.searchParams.get("data") ?? "{}") : await parsed(request.body());
    return open(envelope);
  },
  encode: (output) => ({ status: 200, headers: {}, body: { json: output } }),
  encodeError: (error) => ({ status: error.status, headers: {}, body: { json: error.toJSON() } }),
};

/** Here, and nowhere later, a syntax error is the caller's. */
async function parsed(body: Promise<unknown>): Promise<unknown> {
  try {
    return await whole(body);
  } catch (error) {
    throw error instanceof SyntaxError ? notJson(error) : error;
  }
}

/** Takes an operation's input out of its envelope. */
function open(envelope: unknown): unknown {
  if (envelope === undefined) return {};
  if (!isPlainObject(envelope)) throw new OrchaError("invalid_input", 'the body must be a JSON object: { "json": … }');
  // One level is the envelope's own.
  const fault = findJsonFault(envelope, maxJsonDepth + 1);
  if (fault) {
    const path = formatPath(fault.path.slice(1));
    throw new OrchaError("invalid_input", `${path} ${fault.reason}`, { details: { path } });
  }
  return envelope["json"] ?? {};
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (cause) {
    throw new OrchaError("invalid_input", "data must be JSON", { cause });
  }
}

/** Answers RPC requests for one operation. Throws whatever goes wrong, as an error of the table. */
export type AnswerRpc = (request: Request, operation: OperationName, call: Call) => Promise<Reply | Response | undefined>;

/** What RPC stands on. */
export interface RpcParts {
  router: OrchaRouter;
  /** Without it every answer takes the ordinary path. */
  splicing: Splicing | undefined;
  streaming: Streaming;
}

/** oRPC answers failures itself; this hands them out, so that all failures of a server leave by one door. */
interface HandlerContext extends RequestContext {
  failure?: OrchaError;
}

/** Serves the router's operations to oRPC clients. */
export function createRpc({ router, splicing, streaming }: RpcParts): AnswerRpc {
  const handler = createHandler(router);
  return async (request, operation, call) => {
    checkMethod(request, contract[operation]["~orpc"].meta.write);
    if (isStreamed(operation) && takesStream(request)) return streaming.answer(operation, call, await readEnvelope(request), request);
    if (splicing && isSpliced(operation)) {
      const { text } = await splicing.answer(operation, call, await readEnvelope(request));
      return jsonReply(`{"json":${text}}`);
    }
    const context: HandlerContext = { call, signal: () => request.signal };
    const { response } = await handler.handle(request, { prefix: "/rpc", context });
    if (context.failure) throw context.failure;
    return response;
  };
}

/** Reads may be GET, so that caches see them; a link must never write. */
function checkMethod({ method }: Request, write: boolean): void {
  if (method === "POST" || (method === "GET" && !write)) return;
  throw new OrchaError("invalid_input", `this operation takes POST${write ? "" : " or GET"}, not ${method}`);
}

/** Reads the envelope where oRPC isn't on the way, as the codec above does. */
async function readEnvelope(request: Request): Promise<unknown> {
  if (request.method === "GET") return open(parse(new URL(request.url).searchParams.get("data") ?? "{}"));
  return open(await readJson(request));
}

function createHandler(router: OrchaRouter): FetchHandler<HandlerContext> {
  const handler = new StandardHandler<HandlerContext>(router, new StandardRPCMatcher(), codec, {
    interceptors: [
      async (request) => {
        try {
          return await request.next();
        } catch (error) {
          const failure = toOrchaError(error);
          request.context.failure = failure;
          throw toWire(failure);
        }
      },
    ],
  });
  return new FetchHandler(handler);
}
