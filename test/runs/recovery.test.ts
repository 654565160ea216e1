import { setTimeout as sleep } from "node:timers/promises";
import { scriptedModel, type ScriptEntry } from "@orcha/agent/testing";
import type { Store } from "@orcha/server";
import { describe, expect, onTestFinished, test, vi } from "vitest";
import { surroundings } from "../harness.ts";
import { describeStores } from "../stores.ts";
import { bedOf, eventsOf, monologue, variables, type BedOptions, type Effects } from "./bed.ts";
import { plugged } from "./plug.ts";

/** A server that can be killed, and others that come after it: all on one store, with one clock and one world. */
function world(store: Store, options: BedOptions) {
  const clock = surroundings();
  const effects: Effects = new Map();
  function server(script = options.support) {
    const { store: plug, kill, isDead } = plugged(store);
    const bed = bedOf(plug, { ...options, isDead, ...(script ? { support: script } : {}), effects, app: { surroundings: clock } });
    return { ...bed, kill };
  }
  return { clock, effects, server };
}

const look: ScriptEntry = { toolCalls: [{ callId: "call_1", name: "lookup_order", arguments: { orderId: "A-1" } }] };

describeStores("a run whose server died", (make) => {
  test("goes on elsewhere: what was being said is kept as incomplete, and the round repeated", async () => {
    const { clock, server } = world(await make(), {});
    const one = server([{ text: `One, two, three, four, five, six, seven${", and on".repeat(100)}`, chunkSize: 5, delayMs: 120 }]);
    const run = one.orcha.supportAgent.run({ content: "Count", variables }, { idempotencyKey: "k" });
    for await (const frame of run.stream) if (frame.status === "streaming" && frame.output.length > 24) break;
    one.kill();
    const two = server([{ text: "One to seven." }]);
    await two.service.sweep();
    expect(await two.orcha.supportAgent.get(run.sessionId)).toMatchObject({ runStatus: "running" });
    clock.advance(10_001);
    await two.service.sweep();
    const again = two.orcha.supportAgent.run({ content: "Count", variables, sessionId: run.sessionId }, { idempotencyKey: "k" });
    expect(await again.result).toMatchObject({ status: "completed", run: 1, output: "One to seven." });
    const { items } = await two.orcha.supportAgent.history(run.sessionId);
    expect(items.slice(0, 3)).toMatchObject([{ role: "user" }, { incomplete: true, content: [{ text: expect.stringMatching(/^One, two/) }] }, { role: "assistant" }]);
    expect(two.models.supportAgent.requests).toHaveLength(1);
  });

  test("before any of its answer was stored: another round, since its text may be another", async () => {
    const { clock, server } = world(await make(), {});
    const one = server([monologue]);
    const input = { content: "Greet", variables, sessionId: "ses_greeting" };
    const heard: { round: number; output: string }[] = [];
    for await (const frame of one.orcha.supportAgent.run(input, { idempotencyKey: "k" }).stream) {
      if (frame.status !== "streaming") continue;
      heard.push(frame);
      if (frame.output.length > 6) break;
    }
    one.kill();
    clock.advance(10_001);
    const two = server([{ text: "Good evening, Alice", chunkSize: 4, delayMs: 20 }]);
    await two.service.sweep();
    for await (const frame of two.orcha.supportAgent.run(input, { idempotencyKey: "k" }).stream) if (frame.status === "streaming") heard.push(frame);
    const last = new Map<number, string>();
    for (const { round, output } of heard) {
      expect(output.startsWith(last.get(round) ?? "")).toBe(true);
      last.set(round, output);
    }
    expect([...last.keys()]).toEqual([0, 1]);
    expect(last.get(1)).toBe("Good evening, Alice");
  });

  test("never runs an action again whose result is stored, and runs one without under the same key", async () => {
    const store = await make();
    const { clock, effects, server } = world(store, {});
    const { promise: acting, resolve: act } = Promise.withResolvers<string>();
    const one = server([{ toolCalls: [...(look as { toolCalls: [] }).toolCalls, { callId: "call_2", name: "refund", arguments: { amount: 7 } }] }]);
    // The process dies in the midst of the second action, after its effect.
    const real = effects.set.bind(effects);
    effects.set = (key, value) => {
      real(key, value);
      if (key.endsWith("call_2") && value === 1) {
        one.kill();
        act(key);
      }
      return effects;
    };
    const run = one.orcha.supportAgent.run({ content: "Refund A-1", variables });
    await acting;
    clock.advance(10_001);
    const two = server([{ text: "Refunded." }]);
    await two.service.sweep();
    await expect.poll(async () => (await two.orcha.supportAgent.get(run.sessionId)).runStatus).toBe("completed");
    // The key is the same, so whoever keeps it sees one refund.
    expect([...effects]).toEqual([
      [`${run.sessionId}:call_1`, 1],
      [`${run.sessionId}:call_2`, 2],
    ]);
    const events = await eventsOf(two.orcha, run.sessionId);
    const counted = (type: string) => events.filter((event) => event.type === type).length;
    expect([counted("action.requested"), counted("action.completed"), counted("action.failed")]).toEqual([2, 2, 0]);
    expect(two.models.supportAgent.requests[0]?.prompt.at(-1)).toMatchObject({ role: "tool", content: [{ toolCallId: "call_1" }, { toolCallId: "call_2" }] });
  });

  test("is busy for others until it is taken over, and then goes on", async () => {
    const { clock, server } = world(await make(), { client: { retry: false } });
    const one = server([{ text: "Hm", delayMs: 60_000 }]);
    const run = one.orcha.supportAgent.run({ content: "Hi", variables });
    await expect.poll(async () => one.models.supportAgent.requests.length).toBe(1);
    one.kill();
    const two = server([{ text: "Hello." }, { text: "Yes." }]);
    const resume = () => two.orcha.supportAgent.resume(run.sessionId, "There?").result;
    expect(await resume()).toMatchObject({ status: "failed", error: { code: "session_busy" } });
    clock.advance(10_001);
    expect(await resume()).toMatchObject({ status: "failed", error: { code: "session_busy", retryable: true } });
    await expect.poll(async () => (await two.orcha.supportAgent.get(run.sessionId)).runStatus).toBe("completed");
    expect(await resume()).toMatchObject({ status: "completed", run: 2, output: "Yes." });
  });

  test("can be stopped where nobody goes on with it", async () => {
    const { clock, server } = world(await make(), {});
    const one = server([{ text: "Hm", delayMs: 60_000 }]);
    const run = one.orcha.supportAgent.run({ content: "Hi", variables });
    await expect.poll(async () => one.models.supportAgent.requests.length).toBe(1);
    one.kill();
    const two = server([{ text: "Hello again." }]);
    clock.advance(10_001);
    expect(await two.orcha.supportAgent.stop(run.sessionId)).toMatchObject({ runStatus: "stopped" });
    await two.service.sweep();
    expect(await two.orcha.supportAgent.resume(run.sessionId, "Hi").result).toMatchObject({ status: "completed", run: 2 });
  });

  test("hours ago goes on where somebody waits for it, before any sweep finds it", async () => {
    const { clock, server } = world(await make(), {});
    const one = server([{ text: "Hm", delayMs: 60_000 }]);
    const input = { content: "Hi", variables };
    one.orcha.supportAgent.run(input, { idempotencyKey: "k" });
    await expect.poll(async () => one.models.supportAgent.requests.length).toBe(1);
    one.kill();
    clock.advance(3_600_000);
    const two = server([{ text: "Hello." }]);
    expect(await two.orcha.supportAgent.run(input, { idempotencyKey: "k" }).result).toMatchObject({ status: "completed", run: 1, output: "Hello." });
  });

  test("hours ago finds the child that it had delegated, though nobody drives that yet", async () => {
    const delegate: ScriptEntry = { toolCalls: [{ callId: "call_sub", name: "run_agent", arguments: { agent: "researcher", input: "Find it" } }] };
    const { clock, server } = world(await make(), { researcher: () => ({ text: "Looking far and wide", chunkSize: 4, delayMs: 100 }) });
    const one = server([delegate]);
    const run = one.orcha.supportAgent.run({ content: "Find", variables });
    await expect.poll(async () => one.models.researcher.requests.length).toBe(1);
    one.kill();
    clock.advance(3_600_000);
    const two = server([{ text: "Found." }]);
    // As where a sweep finds the parent, and the next one its child.
    await two.service.sweep();
    await two.service.sweep();
    await expect.poll(async () => (await two.orcha.supportAgent.get(run.sessionId)).runStatus).toBe("completed");
    const { items } = await two.orcha.supportAgent.history(run.sessionId);
    expect(items.filter(({ type }) => type === "subagent")).toMatchObject([{ status: "completed" }]);
  });

  test("that had delegated finds the child it had opened", async () => {
    const delegate: ScriptEntry = { toolCalls: [{ callId: "call_sub", name: "run_agent", arguments: { agent: "researcher", input: "Find it" } }] };
    let searches = 0;
    const { clock, server } = world(await make(), { researcher: [async () => ({ text: "In Berlin.", delayMs: (searches += 1) === 1 ? 60_000 : 0 })] });
    const one = server([delegate]);
    const run = one.orcha.supportAgent.run({ content: "Find", variables });
    await expect.poll(async () => one.models.researcher.requests.length).toBe(1);
    one.kill();
    clock.advance(10_001);
    const two = server([{ text: "Found." }]);
    await two.service.sweep();
    await expect.poll(async () => (await two.orcha.supportAgent.get(run.sessionId)).runStatus).toBe("completed");
    const events = await eventsOf(two.orcha, run.sessionId);
    expect(events.filter(({ type }) => type.startsWith("subagent."))).toMatchObject([{ type: "subagent.initiated" }, { type: "subagent.completed", data: { status: "completed" } }]);
    const { items } = await two.orcha.supportAgent.history(run.sessionId);
    expect(items.filter(({ type }) => type === "subagent")).toHaveLength(1);
  });

  test("goes on in a process that slept, where nobody sweeps", async () => {
    const clock = surroundings();
    const { orcha, models } = bedOf(await make(), { support: [{ text: "Hm", delayMs: 60_000 }, { text: "Good morning." }], app: { surroundings: clock, leaseMs: 1000 } });
    const run = orcha.supportAgent.run({ content: "Hi", variables });
    await expect.poll(() => models.supportAgent.requests.length).toBe(1);
    clock.advance(3_600_000);
    expect(await run.result).toMatchObject({ status: "completed", run: 1, output: "Good morning." });
  });

  test("is given up after ten servers, so that no run takes down one after the other", async () => {
    const { clock, server } = world(await make(), {});
    let last = server([{ text: "x", delayMs: 60_000 }]);
    const run = last.orcha.supportAgent.run({ content: "Crash", variables });
    await expect.poll(async () => last.models.supportAgent.requests.length).toBe(1);
    for (let died = 0; died < 12; died += 1) {
      last.kill();
      clock.advance(10_001);
      last = server([{ text: "x", delayMs: 60_000 }]);
      await last.service.sweep();
    }
    expect(await last.orcha.supportAgent.get(run.sessionId)).toMatchObject({ runStatus: "failed", lastError: { code: "execution_failed" } });
  });

  test("is given up with the action that took them down, which no longer runs in the history", async () => {
    const store = await make();
    const { clock, server } = world(store, {});
    const deadly = () => {
      const { store: plug, kill, isDead } = plugged(store);
      const begun = Promise.withResolvers<void>();
      const implementation = {
        model: scriptedModel([look]),
        instructions: "You help.",
        actions: {
          lookup_order: () => {
            begun.resolve();
            return new Promise<never>(() => {});
          },
          refund: () => ({}),
        },
        skills: { incident_triage: "Stay calm." },
        evaluations: { response_quality: async () => ({}) },
      };
      return { ...bedOf(plug, { isDead, implementations: { supportAgent: implementation }, app: { surroundings: clock } }), kill, begun: begun.promise };
    };
    let last = deadly();
    const run = last.orcha.supportAgent.run({ content: "A-1?", variables });
    for (let died = 0; died < 11; died += 1) {
      await last.begun;
      last.kill();
      clock.advance(10_001);
      last = deadly();
      await last.service.sweep();
    }
    const { orcha } = server([]);
    expect(await orcha.supportAgent.get(run.sessionId)).toMatchObject({ runStatus: "failed" });
    const { items } = await orcha.supportAgent.history(run.sessionId);
    expect(items.at(-1)).toMatchObject({ type: "action", callId: "call_1", status: "failed" });
  });

  test("was handed over: a server that ends lets another go on at once", async () => {
    const { server } = world(await make(), {});
    const one = server([monologue]);
    const run = one.orcha.supportAgent.run({ content: "Count", variables });
    for await (const frame of run.stream) if (frame.status === "streaming") break;
    await one.service.drain(10);
    expect(await one.orcha.supportAgent.run({ content: "New", variables }, { idempotencyKey: "n" }).result.catch((error: unknown) => error)).toMatchObject({ error: { code: "too_busy" } });
    const two = server([{ text: "Three." }]);
    await two.service.sweep();
    await expect.poll(async () => (await two.orcha.supportAgent.get(run.sessionId)).runStatus).toBe("completed");
    const { items } = await two.orcha.supportAgent.history(run.sessionId);
    expect(items.slice(0, 3)).toMatchObject([{ role: "user" }, { incomplete: true }, { role: "assistant" }]);
  });

  test("was handed over while somebody listened, who then hears of it from the other", async () => {
    const { server } = world(await make(), {});
    const one = server([monologue]);
    const two = server([{ text: "Three." }]);
    let current = one.service;
    const { orcha } = bedOf(await make(), { client: { fetch: async (input, init) => current.app.fetch(new Request(input, init)) } });
    const run = orcha.supportAgent.run({ content: "Count", variables });
    const frames: string[] = [];
    const reading = (async () => {
      for await (const frame of run.stream) if (frame.status === "streaming") frames.push(frame.output);
    })();
    await expect.poll(() => frames.length).toBeGreaterThan(0);
    current = two.service;
    await one.service.drain(10);
    await two.service.sweep();
    expect(await run.result).toMatchObject({ status: "completed", output: "Three." });
    await reading;
  });

  test("of an imported log goes on with a new message: no result is lost, no action repeated", async () => {
    const { effects, server } = world(await make(), {});
    const { orcha, models } = server([{ text: "The card was charged; the receipt is not sure." }]);
    // Corpus case 023: a run that died between two actions, as another program logged it.
    const { sessionId } = await orcha.supportAgent.create({ variables });
    const call = (callId: string) => ({ type: "tool_call" as const, callId, name: "refund", arguments: { amount: 1 } });
    await orcha.supportAgent.append(sessionId, {
      events: [
        { type: "run.started", run: 1, data: {} },
        { type: "message.created", run: 1, data: { role: "user", content: [{ type: "text", text: "Pay" }] } },
        { type: "message.created", run: 1, data: { role: "assistant", content: [call("call_pay"), call("call_rcpt")] } },
        { type: "action.requested", run: 1, data: { callId: "call_pay", name: "refund" } },
        { type: "action.completed", run: 1, data: { callId: "call_pay", name: "refund", output: { ok: true } } },
        { type: "action.requested", run: 1, data: { callId: "call_rcpt", name: "refund" } },
      ],
    });
    expect(await orcha.supportAgent.resume(sessionId, "And?").result).toMatchObject({ status: "completed", run: 2 });
    expect(effects.size).toBe(0);
    expect(models.supportAgent.requests[0]?.prompt[3]).toMatchObject({
      role: "tool",
      content: [
        { toolCallId: "call_pay", output: { type: "json", value: { ok: true } } },
        { toolCallId: "call_rcpt", output: { type: expect.stringMatching(/^error/) } },
      ],
    });
  });
});

describe("a store that is away for a moment", () => {
  test("holds the run up, and no more", async () => {
    const { memoryStore } = await import("@orcha/server");
    const { OrchaError } = await import("@orcha/contract");
    const store = memoryStore();
    const append = store.append.bind(store);
    let failing = 4;
    store.append = async (...args) => {
      if ((failing -= 1) >= 0) throw new OrchaError("storage_error", "away");
      return append(...args);
    };
    const quiet = vi.spyOn(console, "error").mockImplementation(() => {});
    onTestFinished(() => quiet.mockRestore());
    const { orcha } = bedOf(store, { support: [look, { text: "Lost." }] });
    expect(await orcha.supportAgent.run({ content: "A-1?", variables }).result).toMatchObject({ status: "completed" });
    await sleep(5);
  });
});
