import type { Contract } from "@orcha/contract";
import { createORPCClient } from "@orpc/client";
import { RPCLink } from "@orpc/client/fetch";
import type { ContractRouterClient } from "@orpc/contract";
import ky from "ky";
import { readAnswer } from "./answer.ts";
import { OrchaError } from "./error.ts";
import { isToken, type Settings } from "./options.ts";

/** What travels beside the input of a write. */
export interface CallContext {
  idempotencyKey?: string;
  ifSequence?: number;
}

/** Every operation of the server, untouched: one call is one request. */
export type Rpc = ContractRouterClient<Contract, CallContext>;

/** Builds the operations: oRPC's protocol, with ky as its fetch. */
export function createRpc(settings: Settings): Rpc {
  const http = ky.create({
    fetch: (input, init) => send(settings, input, init),
    // Retries, the time limit and errors are ours: ky would hide the server's error and not repeat a POST.
    throwHttpErrors: false,
    retry: 0,
    timeout: false,
  });
  const link = new RPCLink<CallContext>({
    url: settings.rpcUrl,
    headers: ({ context }) => headersOf(settings, context),
    fetch: (request, init) => http(request, init),
    clientInterceptors: [
      async (call) => {
        // The input was checked to be plain JSON, so it travels as it is: oRPC's own walk would lose a `__proto__` key.
        const response = await call.next({ ...call, request: { ...call.request, body: { json: call.input } } });
        const body = await readAnswer(response, call.path[0] === "delete");
        return { ...response, body: async () => body };
      },
    ],
  });
  return createORPCClient(link);
}

async function send({ fetch }: Settings, ...request: Parameters<typeof fetch>): Promise<Response> {
  try {
    return await fetch(...request);
  } catch (cause) {
    // Here rather than around ky, whose errors hold the request and with it the token.
    throw new OrchaError("network", "the server can't be reached", { cause });
  }
}

async function headersOf({ token, headers }: Settings, context: CallContext): Promise<Headers> {
  const all = new Headers(typeof headers === "function" ? await headers() : headers);
  const bearer = typeof token === "function" ? await token() : token;
  if (bearer !== undefined && bearer !== "") {
    // What Headers throws would quote the token.
    if (!isToken(bearer)) throw new OrchaError("unexpected", "token() gave something that no header can carry");
    all.set("authorization", `Bearer ${bearer}`);
  }
  if (context.idempotencyKey !== undefined) all.set("idempotency-key", context.idempotencyKey);
  if (context.ifSequence !== undefined) all.set("if-match", `"${context.ifSequence}"`);
  return all;
}
