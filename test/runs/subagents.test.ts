import { scriptedModel, type ScriptEntry } from "@orcha/agent/testing";
import { createOrcha } from "@orcha/client";
import { defineAgent, defineAgents, OrchaError } from "@orcha/contract";
import { createService, memoryStore, type Store } from "@orcha/server";
import * as v from "valibot";
import { expect, onTestFinished, test, vi } from "vitest";
import { surroundings } from "../harness.ts";
import { describeStores } from "../stores.ts";
import { bedOf, variables, type RunClient } from "./bed.ts";
import { plugged } from "./plug.ts";

const delegate = { toolCalls: [{ callId: "call_sub", name: "run_agent", arguments: { agent: "researcher", input: "Find it" } }] };

/** Thinks until it is stopped. */
const endless: ScriptEntry = ({ abortSignal }) =>
  new Promise((_resolve, reject) => {
    abortSignal?.addEventListener("abort", () => reject(new Error("stopped")), { once: true });
  });

/** The one delegation of a session, and how its child is. */
async function delegation(orcha: RunClient, sessionId: string) {
  const { items } = await orcha.supportAgent.history(sessionId);
  const item = items.find(({ type }) => type === "subagent");
  if (item?.type !== "subagent") throw new Error("nothing was delegated");
  const child = await orcha.supportAgent.subagentHistory(item.childSessionId);
  return { item: item.status, child: child.runStatus };
}

describeStores("an interruption of an agent that has delegated", (make) => {
  test.each([
    ["stop", "stopped"],
    ["pause", "paused"],
  ] as const)("%s reaches the child, and the history says so", async (kind, ended) => {
    const { orcha, models } = bedOf(await make(), { support: [delegate], researcher: [endless] });
    const run = orcha.supportAgent.run({ content: "Find it", variables });
    await expect.poll(() => models.researcher.requests.length).toBe(1);
    await orcha.supportAgent[kind](run.sessionId);
    expect(await run.result).toMatchObject({ status: ended });
    expect(await delegation(orcha, run.sessionId)).toEqual({ item: "paused", child: ended });
  });

  test.each([
    ["stop", "stopped"],
    ["pause", "paused"],
  ] as const)("%s from another server does so too", async (kind, ended) => {
    const store = await make();
    const one = bedOf(plugged(store).store, { support: [delegate], researcher: [endless], app: { leaseMs: 2000 } });
    const two = bedOf(plugged(store).store, { support: [{ text: "We were looking." }] });
    const run = one.orcha.supportAgent.run({ content: "Find it", variables });
    await expect.poll(() => one.models.researcher.requests.length).toBe(1);
    await two.orcha.supportAgent[kind](run.sessionId);
    expect(await run.result).toMatchObject({ status: ended });
    expect(await delegation(two.orcha, run.sessionId)).toEqual({ item: "paused", child: ended });
    expect(await two.orcha.supportAgent.resume(run.sessionId).result).toMatchObject({ status: "completed" });
    expect(JSON.stringify(two.models.supportAgent.requests[0]?.prompt)).toContain(`"status":"${ended}"`);
  });

  test("stop reaches a child that is being opened", async () => {
    const store = await make();
    const { promise: opening, resolve: begin } = Promise.withResolvers<void>();
    const { promise: open, resolve: letOpen } = Promise.withResolvers<void>();
    const create = store.create.bind(store);
    store.create = async (ref, write) => {
      if (ref.agent === "researcher") begin();
      if (ref.agent === "researcher") await open;
      return create(ref, write);
    };
    const { orcha, models } = bedOf(store, { support: [delegate], researcher: [endless] });
    const run = orcha.supportAgent.run({ content: "Find it", variables });
    await opening;
    await orcha.supportAgent.stop(run.sessionId);
    expect(await run.result).toMatchObject({ status: "stopped" });
    letOpen();
    await expect.poll(async () => (await delegation(orcha, run.sessionId).catch(() => undefined))?.child).toBe("stopped");
    expect(models.researcher.requests.length).toBeLessThan(2);
  });
});

const ask: ScriptEntry = { toolCalls: [{ callId: "call_expert", name: "ask_expert", arguments: { question: "Where?" } }] };

describeStores("a child that waits for an answer", (make) => {
  async function waitingChild(researcher: readonly ScriptEntry[]) {
    const bed = bedOf(await make(), { support: [delegate, { text: "I asked an expert." }], researcher });
    const { sessionId, result } = bed.orcha.supportAgent.run({ content: "Find it", variables });
    expect(await result).toMatchObject({ status: "completed" });
    const { items } = await bed.orcha.supportAgent.history(sessionId);
    const item = items.find(({ type }) => type === "subagent");
    if (item?.type !== "subagent") throw new Error("nothing was delegated");
    expect(item.status).toBe("waiting");
    return { ...bed, sessionId, childId: item.childSessionId };
  }

  const answer = { toolResults: [{ callId: "call_expert", output: "Berlin" }] };

  test("and gets it in its own session is shown as completed in its parent's, whose model keeps what it was told", async () => {
    const { orcha, sessionId, childId } = await waitingChild([ask, { text: "It is in Berlin.", usage: { inputTokens: 3 } }]);
    const messages = await orcha.supportAgent.messages(sessionId);
    expect(await orcha.researcher.resume(childId, answer).result).toMatchObject({ status: "completed" });
    expect(await delegation(orcha, sessionId)).toEqual({ item: "completed", child: "completed" });
    expect(await orcha.supportAgent.messages(sessionId)).toEqual(messages);
    expect(await orcha.supportAgent.get(sessionId)).toMatchObject({ runStatus: "completed", lastOutput: "I asked an expert." });
  });

  test("and asks again waits on, and its parent's log says nothing new", async () => {
    const again: ScriptEntry = { toolCalls: [{ callId: "call_again", name: "ask_expert", arguments: { question: "Sure?" } }] };
    const { orcha, sessionId, childId } = await waitingChild([ask, again]);
    const { sequence } = await orcha.supportAgent.get(sessionId);
    expect(await orcha.researcher.resume(childId, answer).result).toMatchObject({ status: "waiting_for_client_action" });
    expect(await delegation(orcha, sessionId)).toEqual({ item: "waiting", child: "waiting_for_client_action" });
    expect(await orcha.supportAgent.get(sessionId)).toMatchObject({ sequence });
  });

  test("and fails then is shown as failed", async () => {
    const { orcha, sessionId, childId } = await waitingChild([ask, { error: { message: "no more" } }]);
    expect(await orcha.researcher.resume(childId, answer).result).toMatchObject({ status: "failed" });
    expect(await delegation(orcha, sessionId)).toEqual({ item: "failed", child: "failed" });
  });

  test.each(["stop", "complete"] as const)("and meets a %s waits no longer", async (kind) => {
    const { orcha, sessionId, childId } = await waitingChild([ask]);
    await (kind === "stop" ? orcha.researcher.stop(childId) : orcha.researcher.complete(childId, {}));
    expect(await delegation(orcha, sessionId)).toEqual({ item: "paused", child: "stopped" });
  });

  test("and is deleted waits no longer", async () => {
    const { orcha, sessionId, childId } = await waitingChild([ask]);
    await orcha.researcher.delete(childId);
    const { items } = await orcha.supportAgent.history(sessionId);
    expect(items.find(({ type }) => type === "subagent")).toMatchObject({ status: "failed" });
  });

  test("and gets it while its parent is at work with something else is shown as completed, and the parent goes on", async () => {
    const { promise: held, resolve: say } = Promise.withResolvers<void>();
    const next: ScriptEntry = () => held.then(() => ({ text: "Done." }));
    const { orcha, models } = bedOf(await make(), { support: [delegate, next], researcher: [ask, { text: "It is in Berlin." }] });
    const run = orcha.supportAgent.run({ content: "Find it", variables });
    await expect.poll(() => models.supportAgent.requests.length).toBe(2);
    const { items } = await orcha.supportAgent.history(run.sessionId);
    const childId = items.flatMap((item) => (item.type === "subagent" ? [item.childSessionId] : []))[0] ?? "";
    await orcha.researcher.resume(childId, answer).result;
    expect(await delegation(orcha, run.sessionId)).toEqual({ item: "completed", child: "completed" });
    say();
    expect(await run.result).toMatchObject({ status: "completed", output: "Done." });
  });

  test("and gets it before its parent has said that it waits is shown as completed all the same", async () => {
    const store = await make();
    const append = store.append.bind(store);
    const said = Promise.withResolvers<void>();
    const reached = Promise.withResolvers<string>();
    store.append = async (ref, lookups, decide, condition) => {
      const current = ref.agent === "supportAgent" && condition?.fence !== undefined ? await store.read(ref, lookups) : undefined;
      const bodies = (current && decide(current).write?.events.map(({ body }) => body)) ?? [];
      const waits = bodies.find((body) => body.includes('"subagent.paused"'));
      if (waits !== undefined) {
        reached.resolve(waits);
        await said.promise;
      }
      return append(ref, lookups, decide, condition);
    };
    const { orcha } = bedOf(store, { support: [delegate, { text: "Done." }], researcher: [ask, { text: "It is in Berlin." }] });
    const run = orcha.supportAgent.run({ content: "Find it", variables });
    const childId = /"sessionId":"([^"]+)"/.exec(await reached.promise)?.[1] ?? "";
    await orcha.researcher.resume(childId, answer).result;
    said.resolve();
    expect(await run.result).toMatchObject({ status: "completed" });
    await expect.poll(() => delegation(orcha, run.sessionId)).toEqual({ item: "completed", child: "completed" });
  });
});

test("a child is opened with its parent's variables", async () => {
  const researcher = { model: scriptedModel([{ text: "It is in Berlin." }]), instructions: "You research for {{ customer }}." };
  const { orcha } = bedOf(memoryStore(), { support: [delegate, { text: "Found." }], implementations: { researcher } });
  const run = orcha.supportAgent.run({ content: "Find it", variables });
  expect(await run.result).toMatchObject({ status: "completed" });
  expect(await delegation(orcha, run.sessionId)).toEqual({ item: "completed", child: "completed" });
  expect(researcher.model.requests[0]?.prompt[0]).toMatchObject({ role: "system", content: "You research for Alice." });
});

test("a child that works for hours is waited for", async () => {
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"], shouldAdvanceTime: true });
  onTestFinished(() => void vi.useRealTimers());
  const { promise: found, resolve: find } = Promise.withResolvers<void>();
  const researcher: ScriptEntry = () => found.then(() => ({ text: "It is in Berlin." }));
  const { orcha, models } = bedOf(memoryStore(), { support: [delegate, { text: "Found." }], researcher: [researcher] });
  const { sessionId } = orcha.supportAgent.run({ content: "Find it", variables });
  await expect.poll(() => models.researcher.requests.length).toBe(1);
  await vi.advanceTimersByTimeAsync(3 * 3_600_000);
  find();
  await expect.poll(async () => (await orcha.supportAgent.get(sessionId)).runStatus).toBe("completed");
  expect(await delegation(orcha, sessionId)).toEqual({ item: "completed", child: "completed" });
});

/** Takes the lease from a child's server, and lets its parent's next look at it fail. */
async function losing(store: Store, error: OrchaError): Promise<void> {
  const read = store.read.bind(store);
  const takeLease = store.takeLease.bind(store);
  const looked = Promise.withResolvers<void>();
  store.takeLease = async (ref, lease) => {
    if (ref.agent !== "researcher") return takeLease(ref, lease);
    store.takeLease = takeLease;
    await store.releaseLease(ref, lease.renews ?? 0, "for others");
    store.read = async (of, lookups) => {
      if (of.agent !== "researcher") return read(of, lookups);
      store.read = read;
      looked.resolve();
      throw error;
    };
    return takeLease(ref, lease);
  };
  await looked.promise;
}

test("a child that can't be followed any more is ended before its parent is told that it failed", async () => {
  const store = memoryStore();
  const { orcha, models } = bedOf(store, { support: [delegate, { text: "Not found." }], researcher: [endless], app: { leaseMs: 2000 } });
  const run = orcha.supportAgent.run({ content: "Find it", variables });
  await expect.poll(() => models.researcher.requests.length).toBe(1);
  await losing(store, new OrchaError("execution_failed", "the log is damaged"));
  expect(await run.result).toMatchObject({ status: "completed", output: "Not found." });
  expect(await delegation(orcha, run.sessionId)).toEqual({ item: "failed", child: "stopped" });
});

test("a store that is away while a child is followed fails no child", async () => {
  const store = memoryStore();
  const researcher: ScriptEntry[] = [endless, { text: "It is in Berlin." }];
  const { orcha, models, service } = bedOf(store, { support: [delegate, { text: "Found." }], researcher, app: { leaseMs: 2000 } });
  const run = orcha.supportAgent.run({ content: "Find it", variables });
  await expect.poll(() => models.researcher.requests.length).toBe(1);
  await losing(store, new OrchaError("storage_error", "away"));
  const sweeping = setInterval(() => void service.sweep(), 50);
  onTestFinished(() => clearInterval(sweeping));
  expect(await run.result).toMatchObject({ status: "completed", output: "Found." });
  expect(await delegation(orcha, run.sessionId)).toEqual({ item: "completed", child: "completed" });
});

test("a child whose question expires, and fails by it, is shown as failed in its parent's session", async () => {
  const expiring = defineAgents({
    desk: defineAgent({ subagents: ["helper"] }),
    helper: defineAgent({ clientActions: { ask: { input: v.object({}), expiresInMs: 60_000, onExpire: "fail" } } }),
  });
  const clock = surroundings();
  const delegating: ScriptEntry = { toolCalls: [{ name: "run_agent", arguments: { agent: "helper", input: "Find it" } }] };
  const { app, sweep } = createService({
    agents: expiring,
    store: memoryStore(),
    implementations: {
      desk: { model: scriptedModel([delegating, { text: "I asked." }]), instructions: "You help." },
      helper: { model: scriptedModel([{ toolCalls: [{ name: "ask" }] }]), instructions: "You help." },
    },
    surroundings: clock,
  });
  const { desk } = createOrcha<typeof expiring>({ baseUrl: "http://orcha.test", fetch: async (input, init) => app.fetch(new Request(input, init)) });
  const { sessionId, result } = desk.run("Find it");
  expect(await result).toMatchObject({ status: "completed" });
  const shown = async () => (await desk.history(sessionId)).items.find(({ type }) => type === "subagent");
  expect(await shown()).toMatchObject({ status: "waiting" });
  clock.advance(60_000);
  await sweep();
  expect(await shown()).toMatchObject({ status: "failed" });
});
