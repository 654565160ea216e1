import type { Contract } from "@orcha/contract";
import { createORPCClient, type ClientLink } from "@orpc/client";
import type { ContractRouterClient } from "@orpc/contract";
import ky, { type Options } from "ky";
import { readAnswer } from "./answer.ts";
import { OrchaError, toOrchaError } from "./error.ts";
import { isToken, type Settings } from "./options.ts";

/** What travels beside the input of a write. */
export interface CallContext {
  idempotencyKey?: string;
  ifSequence?: number;
}

/** Every operation of the server, untouched: one call is one request. */
export type Rpc = ContractRouterClient<Contract, CallContext>;

/** The operations whose answers may be streams. */
export type ListenedName = "run" | "resume" | "tail";

/**
 * An answer that may be a stream. Which one it is isn't asked of a class: servers and test tools put one of their own in
 * the place of the global `Response`.
 */
export type Heard = Response | Answer;

/** An answer of the contract's, which types it; a response is told from it by its headers. */
interface Answer {
  headers?: undefined;
}

/** What the client needs of HTTP. */
export interface Transport {
  rpc: Rpc;
  /** Sends what may be answered by a stream of events. */
  listen: (operation: ListenedName, input: object, context: CallContext, signal: AbortSignal) => Promise<Heard>;
}

/** Builds the operations: oRPC's client, with a link that sends plain JSON through ky. */
export function createTransport(settings: Settings): Transport {
  const http = ky.create({
    fetch: (input, init) => send(settings, input, init),
    // Retries, the time limit and errors are ours: ky would hide the server's error and not repeat a POST.
    throwHttpErrors: false,
    retry: 0,
    timeout: false,
  });

  /** Reads need no body, which spares both ends work, unless proxies might cut the address; writes carry a key. */
  async function request(operation: string, input: unknown, context: CallContext, signal: AbortSignal | undefined, mayStream: boolean): Promise<Response> {
    const headers = await headersOf(settings, context);
    const body = JSON.stringify({ json: input });
    const url = `${settings.rpcUrl}/${operation}`;
    // A redirect means that something else than Orcha answered; following it would repeat the call elsewhere.
    const options: Options = { headers, redirect: "manual", ...(signal ? { signal } : {}) };
    const query = !mayStream && context.idempotencyKey === undefined && `?data=${encodeURIComponent(body)}`;
    if (query && query.length < 2000) return http.get(url + query, options);
    headers.set("content-type", "application/json");
    if (mayStream && settings.streams) headers.set("accept", eventStream);
    return http.post(url, { ...options, body });
  }

  /**
   * oRPC's own link would carry dates, maps and the like, and walk every input and answer to find them. The wire is plain
   * JSON: the input was checked to be, and a key such as `__proto__` stays data.
   */
  const link: ClientLink<CallContext> = {
    call: async ([operation = ""], input, { context, signal }) =>
      readAnswer(await request(operation, input, context, signal, false), operation === "delete"),
  };
  return {
    rpc: createORPCClient(link),
    async listen(operation, input, context, signal) {
      const response = await request(operation, input, context, signal, true);
      if (response.ok && response.headers.get("content-type")?.startsWith(eventStream) === true) return response;
      return readAnswer(response, false) as Promise<Answer>;
    },
  };
}

const eventStream = "text/event-stream";

async function send({ fetch, isOwnFetch }: Settings, ...request: Parameters<typeof fetch>): Promise<Response> {
  try {
    const [given] = request;
    if (!isOwnFetch || !(given instanceof Request)) return await fetch(...request);
    // What an app brings may take nothing but an address and plain options, as Expo's does.
    const { url, method, signal, redirect } = given;
    const headers = Object.fromEntries(given.headers);
    return await fetch(url, { method, headers, signal, redirect, ...(method === "GET" ? {} : { body: await given.text() }) });
  } catch (cause) {
    // Here rather than around ky, whose errors hold the request and with it the token.
    throw new OrchaError("network", "the server can't be reached", { cause });
  }
}

async function headersOf({ token, headers }: Settings, context: CallContext): Promise<Headers> {
  const all = new Headers(await ask(headers));
  const bearer = await ask(token);
  if (bearer !== undefined && bearer !== "") {
    // What Headers throws would quote the token.
    if (!isToken(bearer)) throw new OrchaError("unexpected", "token() gave something that no header can carry");
    all.set("authorization", `Bearer ${bearer}`);
  }
  if (context.idempotencyKey !== undefined) all.set("idempotency-key", context.idempotencyKey);
  if (context.ifSequence !== undefined) all.set("if-match", `"${context.ifSequence}"`);
  return all;
}

/** What the app gives often comes over a network itself: where that fails, the next attempt asks again. */
async function ask<T extends object | string | undefined>(asked: T | (() => T | Promise<T>)): Promise<T> {
  try {
    return typeof asked === "function" ? await asked() : asked;
  } catch (cause) {
    throw toOrchaError(cause, true);
  }
}
