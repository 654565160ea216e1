import { scriptedModel, type ScriptedModel, type ScriptEntry } from "@orcha/agent/testing";
import type { Metadata } from "@orcha/contract";
import { createOrcha, type Orcha, type OrchaOptions, type SessionEvents } from "@orcha/client";
import { createService, type AppOptions, type Evaluation, type Implementations, type Service, type Store } from "@orcha/server";
import { agents } from "./agents.ts";

export type RunClient = Orcha<typeof agents>;

type Script = Parameters<typeof scriptedModel>[0];

/** What the tests' actions did, by idempotency key. */
export type Effects = Map<string, number>;

export interface Bed {
  orcha: RunClient;
  service: Service;
  models: Record<"supportAgent" | "researcher" | "sorter", ScriptedModel>;
  effects: Effects;
}

export interface BedOptions {
  support?: Script;
  researcher?: Script;
  sorter?: Script;
  /** Judges the answers of the support agent. */
  quality?: Evaluation<Metadata>;
  implementations?: Partial<Implementations<typeof agents>>;
  app?: Partial<AppOptions<typeof agents>>;
  client?: Partial<OrchaOptions>;
  effects?: Effects;
  /** Tells whether the server's process is gone: then nothing of it can be ended in order. */
  isDead?: () => boolean;
}

/** A server in this process on a store, and a client that talks to it byte for byte as over the network. */
export function bedOf(store: Store, options: BedOptions = {}): Bed {
  const { support = [], researcher = [], sorter = [], effects = new Map<string, number>() } = options;
  const models = { supportAgent: scriptedModel(support), researcher: scriptedModel(researcher), sorter: scriptedModel(sorter) };
  const implementations: Implementations<typeof agents> = {
    supportAgent: {
      model: models.supportAgent,
      instructions: "You help {{ customer }}.",
      actions: {
        lookup_order: ({ orderId }, { idempotencyKey }) => {
          effects.set(idempotencyKey, (effects.get(idempotencyKey) ?? 0) + 1);
          return { status: orderId === "A-1" ? "lost" : "sent" };
        },
        refund: ({ amount }, { idempotencyKey }) => {
          effects.set(idempotencyKey, (effects.get(idempotencyKey) ?? 0) + 1);
          return { refunded: amount };
        },
      },
      skills: { incident_triage: "First, stay calm." },
      evaluations: {
        response_quality:
          options.quality ??
          (async ({ messages }) => ({ groundedness: { score: messages.length > 0 ? 0.9 : 0, reasoning: "It says what it knows." } })),
      },
    },
    researcher: { model: models.researcher, instructions: "You research." },
    sorter: { model: models.sorter, instructions: "You sort." },
    ...options.implementations,
  };
  const service = createService({ agents, store, implementations, ...options.app });
  // As `serve` does it: first the work ends, then the store.
  const close = store.close.bind(store);
  store.close = async () => {
    if (options.isDead?.() !== true) await service.drain(0);
    await close();
  };
  const orcha = createOrcha<typeof agents>({
    baseUrl: "http://orcha.test",
    fetch: async (input, init) => service.app.fetch(new Request(input, init)),
    ...options.client,
  } as OrchaOptions<typeof agents>);
  return { orcha, service, models, effects };
}

/** What a customer's session starts with. */
export const variables = { customer: "Alice" };

/** The types of a session's events, in order. */
export async function typesOf(orcha: RunClient, sessionId: string, agent: "supportAgent" | "researcher" | "sorter" = "supportAgent"): Promise<string[]> {
  return (await eventsOf(orcha, sessionId, agent)).map(({ type }) => type);
}

/** A session's events, in order. */
export async function eventsOf(
  orcha: RunClient,
  sessionId: string,
  agent: "supportAgent" | "researcher" | "sorter" | "elsewhere" = "supportAgent",
): Promise<SessionEvents["events"]> {
  const events: SessionEvents["events"] = [];
  for (let page = 1; ; page += 1) {
    const answer = await orcha[agent].events(sessionId, { page, pageSize: 100 });
    events.unshift(...answer.events);
    if (!answer.hasMore) return events;
  }
}

/** An answer that is still in the making when something happens to it, however slow the machine is: it takes 40 seconds. */
export const monologue: ScriptEntry = { text: `A very long answer indeed${", and on".repeat(1000)}`, chunkSize: 6, delayMs: 30 };

/** Asks for an approval, then says what came of it. */
export const approval: readonly ScriptEntry[] = [
  {
    text: "One moment.",
    toolCalls: [{ callId: "call_ask", name: "request_human_approval", arguments: { amount: 750, currency: "USD" } }],
  },
  { text: "Done." },
];
