import type { Agents } from "@orcha/contract";
import { Changes } from "./changes.ts";
import { surroundings as realSurroundings, type Surroundings } from "./surroundings.ts";
import { logError, type OnError } from "./failure.ts";
import { Forking } from "./forking.ts";
import { Idempotency } from "./idempotency.ts";
import { Reading } from "./reading.ts";
import { createRuns } from "./runs/create-runs.ts";
import { checkDelegations, readImplementations } from "./runs/implementation.ts";
import type { Recovery } from "./runs/recovery.ts";
import type { ModelFor } from "./runs/runner.ts";
import type { Runs } from "./runs/runs.ts";
import type { Store } from "./store/store.ts";
import type { Tailing } from "./tail/tailing.ts";
import { Writing } from "./writing.ts";

/** Sessions of a project's agents over a store, without any transport. */
export interface Sessions {
  reading: Reading;
  writing: Writing;
  forking: Forking;
  runs: Runs;
  tailing: Tailing;
  /** Moves sessions on that nobody is at work at. */
  recovery: Recovery;
  /**
   * Takes no new runs, lets those under way end, and hands over what has not ended after so many milliseconds: another
   * server goes on with it at once.
   */
  drain: (limitMs: number) => Promise<void>;
}

/** How a server runs agents. */
export interface Hosting {
  implementations?: object;
  /** How long a run may be silent before another server takes it over, in milliseconds; default 10,000. */
  leaseMs?: number;
  /** Told of what goes wrong beside the requests; default `console.error`. */
  onError?: OnError;
  /** For tests: which model says something in which run. */
  modelFor?: ModelFor;
}

/** Long enough for a pause of the process, short enough for a person who waits. */
export const defaultLeaseMs = 10_000;

/** Wires the parts that every transport calls. Throws a `TypeError` for implementations that don't fit their agents. */
export function createSessions(agents: Agents, store: Store, given: Partial<Surroundings> = {}, hosting: Hosting = {}): Sessions {
  const surroundings: Surroundings = { ...realSurroundings, ...given };
  const reading = new Reading(agents, store);
  const changes = new Changes(store, surroundings);
  const idempotency = new Idempotency(store, surroundings);
  const parts = { agents, store, reading, changes, idempotency, surroundings };
  const implementations = readImplementations(agents, hosting.implementations);
  // A test's stand-in plays agents that run elsewhere, too: what those open brings its metadata.
  if (!hosting.modelFor) checkDelegations(agents, implementations);
  const runs = createRuns(parts, implementations, hosting.leaseMs ?? defaultLeaseMs, hosting.onError ?? logError, hosting.modelFor);
  return { reading, writing: new Writing({ ...parts, reporting: runs.reporting }), forking: new Forking(parts), ...runs };
}
