import type { Agents } from "@orcha/contract";
import { Answers } from "./answers.ts";
import { Changes } from "./changes.ts";
import { surroundings as realSurroundings, type Surroundings } from "./surroundings.ts";
import { Forking } from "./forking.ts";
import { Idempotency } from "./idempotency.ts";
import { Reading } from "./reading.ts";
import type { Store } from "./store/store.ts";
import { Writing } from "./writing.ts";

/** Sessions of a project's agents over a store, without any transport. */
export interface Sessions {
  reading: Reading;
  writing: Writing;
  answers: Answers;
  forking: Forking;
}

/** Wires the parts that every transport calls. */
export function createSessions(agents: Agents, store: Store, given: Partial<Surroundings> = {}): Sessions {
  const surroundings: Surroundings = { ...realSurroundings, ...given };
  const reading = new Reading(agents, store);
  const changes = new Changes(store, surroundings);
  const idempotency = new Idempotency(store, surroundings);
  const parts = { agents, store, reading, changes, idempotency, surroundings };
  return { reading, writing: new Writing(parts), answers: new Answers(parts), forking: new Forking(parts) };
}
