import type { AgentClient } from "@orcha/client";
import type { Agents } from "@orcha/contract";
import type { Store, Surroundings } from "@orcha/server";
import type { SteeredClock } from "./clock.ts";
import type { Player } from "./player.ts";
import type { Recordings } from "./recordings.ts";

/** What fixtures are loaded into. */
export interface Stage {
  agents: Agents;
  store: Store;
  surroundings: Partial<Surroundings>;
  /** How many ids of sessions were made. */
  ids: { sessions: number };
  recordings: Recordings;
  clock: SteeredClock;
  player: Player;
  tenant: string;
  /** A client of a server that runs the agent. */
  clientOf: (agent: string) => AgentClient;
  /** Lets what waited too long expire. */
  sweep: (agent: string) => Promise<void>;
  /** Resolves where a run of the session comes to a step that never ends. */
  hung: (sessionId: string) => Promise<undefined>;
}
