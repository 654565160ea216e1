import { appendFileSync } from "node:fs";
import { scriptedModel } from "@orcha/agent/testing";
import { serve } from "@orcha/server/node";
import { sqliteStore } from "@orcha/server/sqlite";
import { agents } from "../runs/agents.ts";
import { brain, research } from "../runs/journey.ts";
import type { Death } from "../runs/plug.ts";
import type { Place } from "./process.ts";

/** What the process is told. */
export interface RunServerInput {
  place: Place;
  /** Gets a line for each effect of an action: its idempotency key. */
  effects: string;
  leaseMs: number;
  death?: Death;
}

// One server process that runs agents: node run-server.ts '{"place":…}'. It prints its URL, and kills itself where told.
const { place, effects, leaseMs, death }: RunServerInput = JSON.parse(process.argv[2] ?? "{}");

const store = await open();
let writes = 0;
for (const key of ["create", "append"] as const) {
  const write = store[key].bind(store) as (...args: unknown[]) => Promise<unknown>;
  Object.assign(store, {
    [key]: async (...args: unknown[]) => {
      const isDeadly = (writes += 1) === death?.write;
      if (isDeadly && death.when === "before") process.kill(process.pid, "SIGKILL");
      const answer = await write(...args);
      if (isDeadly) process.kill(process.pid, "SIGKILL");
      return answer;
    },
  });
}


function lookUp({ orderId }: { orderId: string }, { idempotencyKey }: { idempotencyKey: string }) {
  appendFileSync(effects, `${idempotencyKey}\n`);
  return { status: orderId === "A-1" ? "lost" : "sent" };
}

const server = await serve({
  agents,
  store,
  port: 0,
  leaseMs,
  implementations: {
    supportAgent: {
      model: scriptedModel(brain),
      instructions: "You help.",
      actions: { lookup_order: lookUp, refund: () => ({}) },
      skills: { incident_triage: "Stay calm." },
      evaluations: { response_quality: async () => ({ groundedness: { score: 1, reasoning: "It is." } }) },
    },
    researcher: { model: scriptedModel(research), instructions: "You research." },
  },
});
console.log(`listening on ${server.url}`);

async function open() {
  if ("sqlite" in place) return sqliteStore(place.sqlite);
  const { postgresStore } = await import("@orcha/server/postgres");
  return postgresStore({ ...place.postgres, maxConnections: 4 });
}
