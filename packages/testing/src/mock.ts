import { createOrcha, type Orcha } from "@orcha/client";
import type { Agents, OperationName } from "@orcha/contract";
import type { Authenticate } from "@orcha/server";
import type { HttpHandler } from "msw/http";
import { readTime, type Clock } from "./clock.ts";
import type { Cut } from "./cuttable.ts";
import { createHandlers } from "./handlers.ts";
import type { AnyScenario } from "./implementations.ts";
import type { Failure, MockRequest, StreamedOperation } from "./network.ts";
import { checkScenario } from "./scenario-fault.ts";
import type { Scenario } from "./scenario.ts";
import { World } from "./world.ts";

/** How a mock is set up. */
export interface MockOptions {
  /** The address that the app's client has; by default any. */
  baseUrl?: string;
  /** When the clock starts; default "2026-01-01T12:00:00.000Z". */
  startsAt?: string | number | Date;
  /** Who may call, as on a server; by default everybody may do everything. */
  auth?: Authenticate;
  /** Whose sessions the fixtures are; default "default". */
  tenant?: string;
}

/** A server that runs in the test itself: its router, its store and its runs are the real ones. */
export interface MockOrcha<A extends Agents = Agents> {
  /** For msw: `setupServer(...mock.handlers)`, or `setupWorker(...mock.handlers)`. */
  readonly handlers: HttpHandler[];
  /** A client beside the network, for looking inside and for what others do meanwhile: it is not noted and never fails. */
  readonly orcha: Orcha<A>;
  /** What the app asked for, oldest first. */
  readonly requests: readonly MockRequest[];
  readonly clock: Clock;
  /** Settles when every fixture is there; rejects with the first one that can't be. */
  readonly ready: Promise<void>;
  /** Lets the next request for an operation fail, or the next so many. The client repeats what may pass. */
  failNext: (operation: OperationName, failure: Failure, times?: number) => void;
  /** Cuts the next stream of an operation. */
  cutNext: (operation: StreamedOperation, cut: Cut) => void;
  /** Cuts every stream that is open now, or those of a session; tells how many. */
  cut: (sessionId?: string) => number;
  /** Ends the server as a deploy does, and starts another on the same sessions: runs go on from the log. */
  restart: () => Promise<void>;
  /** Goes back to the fixtures, the script's first run and the clock's start. */
  reset: () => Promise<void>;
  /** Ends everything that is under way; requests that come later find no connection. */
  close: () => Promise<void>;
}

/**
 * Sets up agents' sessions and scripts behind handlers that behave as a server does. Nothing leaves the process. Throws a
 * `TypeError` that names the first word of the scenario that there isn't.
 */
export function mockOrcha<A extends Agents>(agents: A, scenario: Scenario<A> = {}, options: MockOptions = {}): MockOrcha<A> {
  checkScenario(agents, scenario);
  const { baseUrl = "*", startsAt = "2026-01-01T12:00:00.000Z", auth, tenant = "default" } = options;
  // What a step says was checked where it was written; from here on its agent's types are forgotten.
  const parts = { agents, scenario: scenario as unknown as AnyScenario, start: readTime(startsAt, "startsAt"), auth, tenant, recordings: new Map() };
  let world = new World({ ...parts, former: new Set() });
  let isClosed = false;
  const inside: typeof fetch = (input, init) => world.inside(input, init);
  return {
    handlers: createHandlers((url, request) => (isClosed ? Promise.resolve(Response.error()) : world.handle(url, request)), baseUrl),
    orcha: createOrcha<A>({ baseUrl: "http://orcha.test", fetch: inside, retry: false }),
    get requests() {
      return world.network.requests;
    },
    clock: { now: () => world.clock.now(), advance: (milliseconds) => world.clock.advance(milliseconds) },
    get ready() {
      return world.ready;
    },
    failNext: (operation, failure, times = 1) => world.network.failNext(operation, failure, times),
    cutNext: (operation, cut) => world.network.cutNext(operation, cut),
    cut: (sessionId) => world.network.cut(sessionId),
    restart: () => world.restart(),
    async reset() {
      const before = world;
      world = new World({ ...parts, former: before.leave() });
      await before.end();
      await world.ready;
    },
    async close() {
      isClosed = true;
      await world.end();
    },
  };
}
