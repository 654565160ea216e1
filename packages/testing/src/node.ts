// The mock with msw's server around it, for tests that run in Node.
import type { Agents } from "@orcha/contract";
import { setupServer, type SetupServer } from "msw/node";
import { mockOrcha, type MockOptions, type MockOrcha } from "./mock.ts";
import type { Scenario } from "./scenario.ts";

/** A mock that intercepts what this process fetches. */
export interface OrchaSetup<A extends Agents = Agents> extends MockOrcha<A> {
  /** msw's own server, for handlers of other addresses: `orcha.server.use(…)`. */
  readonly server: SetupServer;
  /** Starts to intercept; what nobody handles is an error, unless msw's options say otherwise. */
  listen: (options?: Parameters<SetupServer["listen"]>[0]) => void;
}

/** Sets up a mock and msw's server in one: `listen` before all tests, `reset` after each, `close` after all. */
export function setupOrcha<A extends Agents>(agents: A, scenario?: Scenario<A>, options?: MockOptions): OrchaSetup<A> {
  const mock = mockOrcha(agents, scenario, options);
  const server = setupServer(...mock.handlers);
  let isListening = false;
  return {
    ...mock,
    // A spread would keep what these were at first.
    get requests() {
      return mock.requests;
    },
    get ready() {
      return mock.ready;
    },
    server,
    listen(listenOptions) {
      server.listen({ onUnhandledFrame: "error", ...listenOptions });
      isListening = true;
    },
    async reset() {
      server.resetHandlers();
      await mock.reset();
    },
    async close() {
      await mock.close();
      // msw throws where it doesn't listen: what a test closed itself is closed once more after all.
      if (isListening) server.close();
      isListening = false;
    },
  };
}
