import { scriptedModel } from "@orcha/agent/testing";
import { memoryStore, type Store } from "@orcha/server";
import { beforeEach, describe, expect, test, vi } from "vitest";
import { surroundings } from "../harness.ts";
import { describeStores } from "../stores.ts";
import { approval, bedOf, eventsOf, variables, type Bed } from "./bed.ts";
import { plugged } from "./plug.ts";

/** It has no model of its own, and the environment offers none. */
const supportAgent = {
  instructions: "You help {{ customer }}.",
  actions: { lookup_order: () => ({ status: "lost" }), refund: () => ({}) },
  skills: { incident_triage: "Stay calm." },
  evaluations: { response_quality: async () => ({ groundedness: { score: 1, reasoning: "It is." } }) },
};

beforeEach(() => {
  for (const name of ["ORCHA_MODEL", "ORCHA_BASE_URL", "OPENAI_API_KEY", "ANTHROPIC_API_KEY", "GOOGLE_GENERATIVE_AI_API_KEY"]) vi.stubEnv(name, "");
  return () => vi.unstubAllEnvs();
});

/** Servers on one store with one clock: one that had the model, one that hasn't, and one that has it again. */
function servers(store: Store) {
  const clock = surroundings();
  const told: string[] = [];
  const app = { surroundings: clock, onError: (error: unknown) => void told.push(error instanceof Error ? error.message : "") };
  const make = (options: Parameters<typeof bedOf>[1]) => bedOf(plugged(store).store, { ...options, app });
  return {
    clock,
    told,
    had: make({ support: approval }),
    without: make({ implementations: { supportAgent } }),
    bare: make({ implementations: { supportAgent: undefined } }),
    has: make({ support: [{ text: "Done." }] }),
  };
}

async function waiting({ orcha }: Bed): Promise<string> {
  const run = orcha.supportAgent.run({ content: "Refund A-1", variables });
  expect(await run.result).toMatchObject({ status: "waiting_for_client_action" });
  return run.sessionId;
}

describeStores("a server whose agent has no model any more", (make) => {
  test("takes the answer that a run waits for, and a server with the model goes on", async () => {
    const { had, without, has, told } = servers(await make());
    const sessionId = await waiting(had);
    const answered = without.orcha.supportAgent.resume(sessionId, { toolResults: [{ callId: "call_ask", output: { approved: true } }] });
    await expect.poll(async () => (await eventsOf(has.orcha, sessionId)).at(-1)?.type).toBe("client_action.resolved");
    await without.service.sweep();
    await has.service.sweep();
    expect(await answered.result).toMatchObject({ status: "completed", run: 1, output: "Done." });
    // Its operator is told, and not at each sweep.
    expect(told.filter((message) => message.includes("OPENAI_API_KEY"))).toHaveLength(1);
  });

  test("lets client actions expire, and a server with the model goes on", async () => {
    const { clock, had, without, has } = servers(await make());
    const sessionId = await waiting(had);
    clock.advance(60_000);
    await without.service.sweep();
    expect(await without.orcha.supportAgent.get(sessionId)).toMatchObject({ pendingClientActions: [], runStatus: "running" });
    await has.service.sweep();
    await expect.poll(async () => (await has.orcha.supportAgent.get(sessionId)).lastOutput).toBe("Done.");
  });

  test("starts nothing, and says what is missing", async () => {
    const { without } = servers(await make());
    const result = await without.orcha.supportAgent.run({ content: "Hi", variables }).result;
    expect(result).toMatchObject({ status: "failed", error: { code: "execution_failed", message: expect.stringContaining("OPENAI_API_KEY") } });
  });
});

describeStores("a server that has no implementation of a run's agent", (make) => {
  test("takes the answer that the run waits for, and a server with one goes on", async () => {
    const { had, has, bare } = servers(await make());
    const sessionId = await waiting(had);
    const answer = { toolResults: [{ callId: "call_ask", output: { approved: true } }] };
    expect(await bare.orcha.supportAgent.resume(sessionId, answer).result).toMatchObject({ status: "recorded" });
    await has.service.sweep();
    await expect.poll(async () => (await has.orcha.supportAgent.get(sessionId)).lastOutput).toBe("Done.");
  });
});

describe("the sweep", () => {
  test("ends what expires of one agent, whatever waits of another", async () => {
    const store = memoryStore();
    const clock = surroundings();
    const { store: plug, kill, isDead } = plugged(store);
    const one = bedOf(plug, { sorter: () => new Promise(() => {}), support: approval, isDead, app: { surroundings: clock } });
    for (let count = 0; count < 120; count += 1) one.orcha.sorter.run("A bug");
    await expect.poll(() => one.models.sorter.requests.length).toBe(120);
    const sessionId = await waiting(one);
    kill();
    clock.advance(60_000);
    const sorter = { instructions: "You sort." };
    const two = bedOf(store, { support: [{ text: "Too late." }], implementations: { sorter }, app: { surroundings: clock, onError: () => {} } });
    await two.service.sweep();
    await expect.poll(async () => (await two.orcha.supportAgent.get(sessionId)).lastOutput).toBe("Too late.");
    // What waited goes on where there is a model again.
    const three = bedOf(store, { implementations: { sorter: { ...sorter, model: scriptedModel(() => ({ text: '{"label":"bug"}' })) } }, app: { surroundings: clock } });
    await three.service.sweep();
    await three.service.sweep();
    await expect.poll(async () => (await three.orcha.sorter.list({ runStatus: "completed", pageSize: 100 })).items.length).toBe(100);
  });
});
