import { contract, OrchaError, type Agents, type OperationName } from "@orcha/contract";
import { Hono, type Context } from "hono";
import { everybody, type Authenticate } from "./auth.ts";
import type { Call } from "./call.ts";
import { compressFor } from "./compress.ts";
import { crossOrigin, type CorsOptions } from "./cors.ts";
import { isRest, isServerFault, logError, reportOf, toOrchaError, toProblem, toResponse, type OnError } from "./failure.ts";
import { admit } from "./gate.ts";
import { requestIdOf, sign } from "./headers.ts";
import { unlessKnown } from "./known.ts";
import { limitBody } from "./limit.ts";
import { createReadiness } from "./ready.ts";
import type { Reply } from "./reply.ts";
import { answerRest, operationsOf } from "./rest.ts";
import { answerImport } from "./rest-import.ts";
import { restPages } from "./rest-pages.ts";
import { restRoutes } from "./rest-routes.ts";
import { createRouter } from "./router.ts";
import { createRpc } from "./rpc.ts";
import type { Implementations } from "./runs/implementation.ts";
import type { ModelFor } from "./runs/runner.ts";
import { createSessions, defaultLeaseMs } from "./sessions.ts";
import { Splicing } from "./splice.ts";
import { Streaming } from "./streaming.ts";
import type { Store } from "./store/store.ts";
import { surroundings as realSurroundings, type Surroundings } from "./surroundings.ts";

/** The parts of a server. */
export interface AppOptions<A extends Agents = Agents> {
  agents: A;
  store: Store;
  /** How this server runs the agents; one without an implementation runs elsewhere, and its log is kept all the same. */
  implementations?: Implementations<A>;
  /** How long a run may be silent before another server takes it over, in milliseconds; default 10,000, at least 100. */
  leaseMs?: number;
  /** Who may call; without it everybody may do everything, so the server must only be reachable from this machine. */
  auth?: Authenticate;
  /** Which pages of other origins may call; by default none. */
  cors?: CorsOptions;
  /**
   * Whether callers that take gzip get it, for answers of a kilobyte and more. By default `serve()` compresses what leaves
   * the private network, and `createApp()` nothing: places that run `fetch` handlers compress by themselves.
   */
  compress?: boolean;
  /** The largest file that `POST /api/import` takes, in bytes; default 10 GiB. All other bodies have at most 4 MiB. */
  maxImportBytes?: number;
  /** The clock, the id maker, the digest and the compression; the real ones by default. */
  surroundings?: Partial<Surroundings>;
  /** Told of each failure that is the server's own fault; default `console.error`. */
  onError?: OnError;
}

/** A server without a socket: its app, and the work that it does by itself. */
export interface Service {
  app: Hono;
  /** Looks once for crashed runs to go on with, and for client actions whose time is over. */
  sweep: () => Promise<void>;
  /** Does so each second, until `drain`. */
  start: () => void;
  /** Takes no new runs, and hands over those that haven't ended after so many milliseconds. */
  drain: (limitMs: number) => Promise<void>;
}

/** How often a server looks for sessions that nobody is at work at, in milliseconds. */
const sweepEveryMs = 1000;

/**
 * Builds the HTTP app: operations at `/rpc` and as REST at `/api`, liveness at `/healthz`, readiness at `/readyz`. It runs
 * wherever `fetch` handlers run. Throws a `TypeError` for implementations that don't fit their agents.
 */
export function createApp<A extends Agents>(options: AppOptions<A>): Hono {
  return createService(options).app;
}

/** What only this project sets. */
interface Inside {
  /** For tests, which compare the two ways of answering a page. */
  splice?: boolean;
  /** Whether compressing pays for a caller, where the options don't say it. */
  isFar?: (request: Request, env: unknown) => boolean;
  /** For tests, whose models follow a script for each run. */
  modelFor?: ModelFor;
}

/** Builds the app and what works beside it. Throws as `createApp` does. */
export function createService<A extends Agents>(options: AppOptions<A>, { splice = true, isFar = () => false, modelFor }: Inside = {}): Service {
  const { agents, store, auth = everybody, cors, compress, maxImportBytes = 10_737_418_240, onError = logError } = options;
  const surroundings: Surroundings = { ...realSurroundings, ...options.surroundings };
  const sessions = createSessions(agents, store, surroundings, { ...options, onError, ...(modelFor ? { modelFor } : {}) });
  const parts = {
    router: createRouter(sessions),
    splicing: splice ? new Splicing(sessions.reading) : undefined,
    streaming: new Streaming(sessions.runs, sessions.tailing),
  };
  const rpc = createRpc(parts);
  const ready = createReadiness(store);
  const app = new Hono();

  if (cors) app.use(crossOrigin(cors));

  app.get("/healthz", (context) => answer(context, "healthz", async () => Response.json({ status: "ok" })));
  app.get("/readyz", (context) =>
    answer(context, "readyz", async () => {
      await ready();
      return Response.json({ status: "ready" });
    }),
  );

  app.all("/rpc/:operation", (context) => {
    const operation = context.req.param("operation");
    return answer(context, operation, async () => {
      if (!isOperation(operation)) throw notFound(operation);
      const call = await callOf(context, operation);
      const reply = await rpc(context.req.raw, operation, call);
      if (!reply) throw notFound(operation);
      return reply;
    });
  });

  for (const route of restRoutes()) {
    app.all(`/api${route.path.replaceAll(/\{(\w+)\}/g, ":$1")}`, (context) =>
      answer(context, route.path, async () => {
        const operations = operationsOf(route, context.req.raw);
        // Operations that share a route share their scope too.
        const [first = "get"] = operations;
        const call = await callOf(context, first);
        return answerRest(parts, operations, call, { request: context.req.raw, names: context.req.param() });
      }),
    );
  }
  app.all("/api/import", (context) =>
    answer(context, "/import", () => answerImport({ agents, store, auth, surroundings, maxBytes: maxImportBytes }, context.req.raw)),
  );
  for (const [path, page] of restPages({ agents, auth, surroundings })) {
    app.get(`/api${path}`, (context) => answer(context, path, () => page(context.req.raw)));
  }

  app.notFound((context) => fail(context, notFound(context.req.path)));
  app.onError((error, context) => fail(context, error));

  /** Finds out who calls, and only then waits for the body: strangers would fill the memory with theirs. */
  async function callOf(context: Context, operation: OperationName): Promise<Call> {
    const call = await admit(auth, context.req.raw, contract[operation]["~orpc"].meta);
    await limitBody(context);
    return call;
  }

  /** Answers under the request's name, whatever happens. */
  async function answer(context: Context, operation: string, work: () => Promise<Reply | Response>): Promise<Response> {
    const { raw: request } = context.req;
    const requestId = requestIdOf(request) ?? surroundings.requestId();
    let reply: Reply | Response;
    try {
      reply = unlessKnown(request, await work());
    } catch (error) {
      reply = refuse(context, toOrchaError(error), operation, requestId);
    }
    if (compress ?? isFar(request, context.env)) reply = await compressFor(request, reply, surroundings);
    return sign(reply, requestId);
  }

  function fail(context: Context, error: Error): Promise<Response> {
    return answer(context, "request", () => {
      throw error;
    });
  }

  function refuse(context: Context, error: OrchaError, operation: string, requestId: string): Response {
    if (isServerFault(error)) onError(reportOf(error), { operation, requestId });
    return isRest(context.req.path) ? toProblem(error) : toResponse(error);
  }

  let timer: ReturnType<typeof setInterval> | undefined;
  return {
    app,
    sweep: () => sessions.recovery.sweep(),
    start: () => {
      timer ??= setInterval(() => void sessions.recovery.patrol(), Math.min(sweepEveryMs, (options.leaseMs ?? defaultLeaseMs) / 2));
    },
    drain: async (limitMs) => {
      clearInterval(timer);
      await sessions.drain(limitMs);
    },
  };
}

function isOperation(name: string): name is OperationName {
  return Object.hasOwn(contract, name);
}

function notFound(name: string): OrchaError {
  return new OrchaError("item_not_found", `nothing is served at ${JSON.stringify(name.slice(0, 200))}`);
}
