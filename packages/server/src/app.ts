import { contract, invalidInput, maxBodyBytes, OrchaError, type Agents, type OperationName } from "@orcha/contract";
import { Hono } from "hono";
import { bodyLimit } from "hono/body-limit";
import { authorise, everybody, type Authenticate } from "./auth.ts";
import type { Call } from "./call.ts";
import type { Surroundings } from "./surroundings.ts";
import { isServerFault, toOrchaError, toResponse, type OnError } from "./failure.ts";
import { createRouter } from "./router.ts";
import { bodyTooLarge, createRpcHandler } from "./rpc.ts";
import { createSessions } from "./sessions.ts";
import type { Store } from "./store/store.ts";

/** The parts of a server. */
export interface AppOptions {
  agents: Agents;
  store: Store;
  /** Who may call; without it everybody may do everything, so the server must only be reachable from this machine. */
  auth?: Authenticate;
  /** The clock, the id maker and the digest; the real ones by default. */
  surroundings?: Partial<Surroundings>;
  /** Told of each failure that is the server's own fault; default `console.error`. */
  onError?: OnError;
}

/** Builds the HTTP app: operations at `/rpc`, liveness at `/healthz`. It runs wherever `fetch` handlers run. */
export function createApp(options: AppOptions): Hono {
  const { agents, store, auth = everybody, surroundings, onError = logError } = options;
  const handler = createRpcHandler(createRouter(createSessions(agents, store, surroundings)));
  const app = new Hono();

  app.get("/healthz", (context) => context.json({ status: "ok" }));

  app.use("/rpc/*", bodyLimit({ maxSize: maxBodyBytes, onError: () => refuse(bodyTooLarge()) }));

  app.all("/rpc/:operation", async (context) => {
    const { raw: request } = context.req;
    const operation = context.req.param("operation");
    try {
      const { scope, write } = operationOf(operation)["~orpc"].meta;
      const principal = await authorise(auth, request, scope);
      checkMethod(request, write);
      checkContentType(request);
      const call: Call = { principal, ...readHeaders(request.headers) };
      const { response } = await handler.handle(request, { prefix: "/rpc", context: { call } });
      return response ?? refuse(notFound(operation));
    } catch (error) {
      return refuse(toOrchaError(error), operation);
    }
  });

  app.notFound((context) => refuse(notFound(context.req.path)));
  app.onError((error) => refuse(toOrchaError(error)));

  function refuse(error: OrchaError, operation = "request"): Response {
    if (isServerFault(error)) onError(error.cause ?? error, { operation });
    return toResponse(error);
  }

  return app;
}

function logError(error: unknown, at: { operation: string }): void {
  console.error(`orcha: ${at.operation} failed`, error);
}

function operationOf(name: string): (typeof contract)[OperationName] {
  if (Object.hasOwn(contract, name)) return contract[name as OperationName];
  throw notFound(name);
}

function notFound(name: string): OrchaError {
  return new OrchaError("item_not_found", `nothing is served at ${JSON.stringify(name.slice(0, 200))}`);
}

/** Reads may be GET, so that caches see them; a link must never write. */
function checkMethod({ method }: Request, write: boolean): void {
  if (method === "POST" || (method === "GET" && !write)) return;
  throw new OrchaError("invalid_input", `this operation takes POST${write ? "" : " or GET"}, not ${method}`);
}

/** Anything but JSON is refused; a form would also let other sites write through a browser. */
function checkContentType(request: Request): void {
  if (request.body === null) return;
  const type = request.headers.get("content-type") ?? "";
  if (/^application\/json\s*(;|$)/i.test(type)) return;
  throw new OrchaError("unsupported_format", "the body must be application/json");
}

function readHeaders(headers: Headers): Omit<Call, "principal"> {
  const idempotencyKey = headers.get("idempotency-key") ?? undefined;
  const ifMatch = headers.get("if-match") ?? undefined;
  if (idempotencyKey !== undefined && !/^[\x21-\x7e]{1,255}$/.test(idempotencyKey)) {
    throw invalidInput(["idempotencyKey"], "must be 1 to 255 visible ASCII characters");
  }
  const sequence = ifMatch === undefined ? undefined : /^"?([1-9]\d{0,14})"?$/.exec(ifMatch)?.[1];
  if (ifMatch !== undefined && sequence === undefined) throw invalidInput(["ifSequence"], "must be a sequence, an integer from 1");
  return {
    ...(idempotencyKey === undefined ? {} : { idempotencyKey }),
    ...(sequence === undefined ? {} : { ifSequence: Number(sequence) }),
  };
}
