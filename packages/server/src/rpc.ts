import { findJsonFault, formatPath, isPlainObject, maxBodyBytes, maxJsonDepth, OrchaError } from "@orcha/contract";
import { FetchHandler } from "@orpc/server/fetch";
import { StandardHandler, StandardRPCMatcher, type StandardCodec } from "@orpc/server/standard";
import { toOrchaError, toWire } from "./failure.ts";
import type { OrchaRouter, RequestContext } from "./router.ts";

/*
 * The wire is plain JSON, both ways: `{ "json": input }` in, `{ "json": answer }` or `{ "json": error }` out. oRPC's own
 * codec would also carry dates, maps and the like, and walk every answer to look for them; nothing of that can be stored.
 */
const codec: StandardCodec = {
  async decode(request) {
    const envelope: unknown =
      request.method === "GET" ? parse(request.url.searchParams.get("data") ?? "{}") : await request.body();
    if (envelope === undefined) return {};
    if (!isPlainObject(envelope)) throw new OrchaError("invalid_input", 'the body must be a JSON object: { "json": … }');
    // One level is the envelope's own.
    const fault = findJsonFault(envelope, maxJsonDepth + 1);
    if (fault) {
      const path = formatPath(fault.path.slice(1));
      throw new OrchaError("invalid_input", `${path} ${fault.reason}`, { details: { path } });
    }
    return envelope["json"] ?? {};
  },
  encode: (output) => ({ status: 200, headers: {}, body: { json: output } }),
  encodeError: (error) => ({ status: error.status, headers: {}, body: { json: error.toJSON() } }),
};

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (cause) {
    throw new OrchaError("invalid_input", "data must be JSON", { cause });
  }
}

/** Serves the router's operations to oRPC clients. Every failure leaves as an error of the table. */
export function createRpcHandler(router: OrchaRouter): FetchHandler<RequestContext> {
  const handler = new StandardHandler<RequestContext>(router, new StandardRPCMatcher(), codec, {
    interceptors: [
      async (request) => {
        try {
          return await request.next();
        } catch (error) {
          throw toWire(readFailure(error));
        }
      },
    ],
  });
  return new FetchHandler(handler);
}

/** Outside of an operation only the body can be at fault. */
function readFailure(error: unknown): OrchaError {
  if (error instanceof SyntaxError) return new OrchaError("invalid_input", "the body is not JSON", { cause: error });
  return toOrchaError(error);
}

/** Builds the refusal of a body that is too large. */
export function bodyTooLarge(): OrchaError {
  return new OrchaError("payload_too_large", `a request body may have ${maxBodyBytes} bytes`, {
    details: { limit: maxBodyBytes },
  });
}
