// oxlint-disable vitest/no-standalone-expect -- The driver of the one test is a class: its steps are the test.
import type { ScriptReply, ScriptRequest } from "@orcha/agent/testing";
import { advance, type SessionEvent } from "@orcha/contract";
import type { Store } from "@orcha/server";
import fc from "fast-check";
import { expect, test } from "vitest";
import { surroundings } from "../harness.ts";
import { describeStores } from "../stores.ts";
import { bedOf, eventsOf, variables, type Bed, type Effects } from "./bed.ts";
import { plugged } from "./plug.ts";

/*
 *             ┌── say: talk, act, fail ──┐
 *             ▼                          │
 *   new ──▶ idle ── say: ask ──▶ waiting ── all answered, denied or expired; stop ──▶ idle
 *            │ ▲                    │
 *   say: slow│ │stop                └── pause ──▶ paused ── say (nothing waits), all answered ──▶ idle
 *            ▼ │                                    ▲
 *           running ── crash ──▶ running            │
 *              └────────── pause ───────────────────┘        complete ──▶ completed: nothing more
 */

interface Model {
  state: "new" | "idle" | "waiting" | "running" | "paused" | "completed";
  pending: string[];
  /** What was answered, for repetitions. */
  answered: string[];
  count: number;
}

type Command =
  | { do: "say"; what: "talk" | "act" | "ask" | "fail" | "slow" }
  | { do: "answer"; how: "answer" | "deny"; which: "all" | "one" }
  | { do: "repeat" | "say again" | "pause" | "stop" | "expire" | "crash" | "complete" };

const commands: fc.Arbitrary<Command[]> = fc.array(
  fc.oneof(
    { weight: 6, arbitrary: fc.record({ do: fc.constant("say" as const), what: fc.constantFrom("talk", "act", "ask", "ask", "fail", "slow") }) },
    { weight: 4, arbitrary: fc.record({ do: fc.constant("answer" as const), how: fc.constantFrom("answer", "deny"), which: fc.constantFrom("all", "one") }) },
    { weight: 6, arbitrary: fc.record({ do: fc.constantFrom("repeat", "say again", "pause", "stop", "expire", "crash") }) },
    { weight: 1, arbitrary: fc.record({ do: fc.constant("complete" as const) }) },
  ),
  { maxLength: 12 },
);

/** Answers as the last thing that the user said wants it to. */
function brain({ prompt }: ScriptRequest): ScriptReply {
  const last = prompt.findLastIndex(({ role }) => role === "user");
  const [verb = "", number = ""] = textOf(prompt[last]).split(" ");
  const isAnswered = prompt.slice(last).some(({ role }) => role === "tool");
  if (isAnswered) return { text: `After ${verb}.` };
  const approval = (callId: string) => ({ callId, name: "request_human_approval", arguments: { amount: 1, currency: "USD" } });
  switch (verb) {
    case "ask":
      return { text: "May I?", toolCalls: [approval(`c${number}a`), approval(`c${number}b`)] };
    case "act":
      return { toolCalls: [{ callId: `c${number}`, name: "lookup_order", arguments: { orderId: "A-1" } }] };
    case "fail":
      return { error: { message: "no", statusCode: 400 } };
    case "slow":
      return { text: "Slow", delayMs: 600_000 };
    default:
      return { text: `You said ${verb}.` };
  }
}

function textOf(message: ScriptRequest["prompt"][number] | undefined): string {
  const part = message?.role === "user" ? message.content[0] : undefined;
  return part?.type === "text" ? part.text : "";
}

/** The session and its server, driven beside the model. */
class Driver {
  readonly model: Model = { state: "new", pending: [], answered: [], count: 0 };
  readonly sessionId = "ses_model";
  readonly clock = surroundings();
  readonly effects: Effects = new Map();
  private readonly store: Store;
  private server!: Bed & { kill: () => void };
  private lastSaid: { content: string; key: string; isFirst: boolean; status: string } | undefined;

  constructor(store: Store) {
    this.store = store;
    this.start();
  }

  get orcha() {
    return this.server.orcha;
  }

  private start(): void {
    const { store, kill, isDead } = plugged(this.store);
    const bed = bedOf(store, { support: brain, effects: this.effects, isDead, app: { surroundings: this.clock }, client: { retry: false } });
    this.server = { ...bed, kill };
  }

  async run(command: Command): Promise<void> {
    const { model } = this;
    const { supportAgent } = this.orcha;
    if (model.state === "new" && command.do !== "say") return;
    switch (command.do) {
      case "say":
        return this.say(command.what);
      case "say again": {
        if (!this.lastSaid || this.lastSaid.status === "busy") return;
        const before = (await eventsOf(this.orcha, this.sessionId)).length;
        const { content, key, isFirst, status } = this.lastSaid;
        if (status === "running") return;
        const again = isFirst
          ? supportAgent.run({ content, variables, sessionId: this.sessionId }, { idempotencyKey: key })
          : supportAgent.resume(this.sessionId, content, { idempotencyKey: key });
        await again.result;
        await again.evaluations;
        expect((await eventsOf(this.orcha, this.sessionId)).length).toBe(before);
        return;
      }
      case "answer":
        return this.answer(command);
      case "repeat": {
        const callId = model.answered.at(-1);
        if (callId === undefined || model.state === "completed") return;
        const before = (await eventsOf(this.orcha, this.sessionId)).length;
        const result = await supportAgent.resume(this.sessionId, { toolResults: [{ callId, output: { approved: false, other: true } }] }).result;
        expect(result).toMatchObject({ status: "failed", error: { code: "action_result_conflict" } });
        expect((await eventsOf(this.orcha, this.sessionId)).length).toBe(before);
        return;
      }
      case "pause":
      case "stop": {
        const { error } = await supportAgent[command.do].safe(this.sessionId);
        if (model.state === "completed") {
          expect(error?.code).toBe("session_completed");
          return;
        }
        expect(error).toBeUndefined();
        if (command.do === "pause") model.state = "paused";
        else {
          model.pending = [];
          if (model.state !== "paused") model.state = "idle";
        }
        return;
      }
      case "expire":
        // A run's lease is renewed as real time passes, which this clock doesn't follow.
        if (model.state === "running") return;
        this.clock.advance(60_000);
        await this.server.service.sweep();
        model.pending = [];
        if (model.state === "waiting") {
          model.state = "idle";
          await this.settled();
        }
        return;
      case "crash":
        await this.settled();
        this.server.kill();
        this.start();
        this.clock.advance(10_001);
        await this.server.service.sweep();
        if (model.pending.length > 0 && (await this.orcha.supportAgent.get(this.sessionId)).pendingClientActions.length === 0) {
          throw new Error("a crash must not answer what waits");
        }
        if (model.state === "running") await expect.poll(() => this.server.models.supportAgent.requests.length).toBeGreaterThan(0);
        return;
      case "complete": {
        const { error } = await supportAgent.complete.safe(this.sessionId);
        if (model.state === "completed") expect(error?.code).toBe("session_completed");
        else if (model.state === "running") expect(error?.code).toBe("session_busy");
        else {
          expect(error).toBeUndefined();
          Object.assign(model, { state: "completed", pending: [] });
        }
      }
    }
  }

  private async say(what: "talk" | "act" | "ask" | "fail" | "slow"): Promise<void> {
    const { model } = this;
    const { supportAgent } = this.orcha;
    model.count += 1;
    const [content, key] = [`${what} ${model.count}`, `key-${model.count}`];
    const isFirst = model.state === "new";
    const asked = this.server.models.supportAgent.requests.length;
    const execution = isFirst
      ? supportAgent.run({ content, variables, sessionId: this.sessionId }, { idempotencyKey: key })
      : supportAgent.resume(this.sessionId, content, { idempotencyKey: key });
    const refusal = this.refusal();
    if (refusal !== undefined) {
      expect(await execution.result).toMatchObject({ status: "failed", error: { code: refusal } });
      return;
    }
    this.lastSaid = { content, key, isFirst, status: what === "slow" ? "running" : "ended" };
    if (what === "slow") {
      await expect.poll(() => this.server.models.supportAgent.requests.length).toBe(asked + 1);
      model.state = "running";
      return;
    }
    const expected = { talk: "completed", act: "completed", ask: "waiting_for_client_action", fail: "failed" }[what];
    expect(await execution.result).toMatchObject({ status: expected });
    await execution.evaluations;
    model.state = what === "ask" ? "waiting" : "idle";
    if (what === "ask") model.pending = [`c${model.count}a`, `c${model.count}b`];
  }

  private refusal(): string | undefined {
    const { state, pending } = this.model;
    if (state === "completed") return "session_completed";
    if (state === "running") return "session_busy";
    return pending.length > 0 ? "client_action_required" : undefined;
  }

  private async answer({ how, which }: Extract<Command, { do: "answer" }>): Promise<void> {
    const { model } = this;
    if (model.pending.length === 0) return;
    const callIds = which === "all" ? model.pending : model.pending.slice(0, 1);
    const toolResults = callIds.map((callId) => (how === "deny" ? { callId, deny: true as const } : { callId, output: { approved: true } }));
    const execution = this.orcha.supportAgent.resume(this.sessionId, { toolResults });
    const result = await execution.result;
    model.pending = model.pending.filter((callId) => !callIds.includes(callId));
    model.answered.push(...callIds);
    model.state = model.pending.length === 0 ? "idle" : "waiting";
    expect(result.status).toBe(model.pending.length === 0 ? "completed" : "waiting_for_client_action");
    await execution.evaluations;
  }

  /** Waits until no run of this server is at work, and none is judged. */
  private async settled(): Promise<void> {
    if (this.model.state === "running") return;
    await expect
      .poll(async () => {
        const events = await eventsOf(this.orcha, this.sessionId);
        const counted = (name: string) => events.filter(({ type }) => type === name).length;
        const { runStatus } = await this.orcha.supportAgent.get(this.sessionId);
        const judged = counted("evaluation.completed") + counted("evaluation.failed");
        return runStatus === "running" ? "at work" : counted("evaluation.requested") - judged;
      })
      .toBe(0);
  }

  /** What a reader sees is what the model says. */
  async check(): Promise<void> {
    const { state, pending } = this.model;
    if (state === "new") return;
    const snapshot = await this.orcha.supportAgent.get(this.sessionId);
    expect(snapshot.pendingClientActions.map(({ callId }) => callId)).toEqual(pending);
    expect(snapshot.status).toBe(state === "paused" || state === "completed" ? state : "active");
    if (state === "running") expect(snapshot.runStatus).toBe("running");
    if (state === "waiting") expect(snapshot.runStatus).toBe("waiting_for_client_action");
    if (state === "idle") expect(["completed", "failed", "stopped", undefined]).toContain(snapshot.runStatus);
  }

  /** The log is whole, the projections are its own, and each call ended once. */
  async checkLog(): Promise<void> {
    if (this.model.state === "new") return;
    await this.settled();
    // Every type is known here.
    const events = (await eventsOf(this.orcha, this.sessionId)) as SessionEvent[];
    expect(events.map(({ sequence }) => sequence)).toEqual(events.map((_, index) => index + 1));
    const { view, versions } = advance(undefined, new Map(), events);
    const items = new Map(versions.map(({ position, item }) => [position, item]));
    const history = await this.orcha.supportAgent.history(this.sessionId, { pageSize: 100 });
    expect(history.items).toEqual([...items.values()].slice(-100));
    expect(history).toMatchObject(view.snapshot);
    for (const item of items.values()) if (item.type === "action") expect(item.status).not.toBe("running");
    const resolved = events.flatMap((event) => (event.type === "client_action.resolved" ? event.data.results.map(({ callId }) => callId) : []));
    expect(new Set(resolved).size).toBe(resolved.length);
    for (const count of this.effects.values()) expect(count).toBe(1);
  }

  /** Whatever happened, the session can be moved on. */
  async moveOn(): Promise<void> {
    if (this.model.state === "completed" || this.model.state === "new") return;
    await this.run({ do: "stop" });
    await this.check();
    await this.say("talk");
    expect(this.model.state).toBe("idle");
    await this.check();
  }
}

const runs: Record<string, number> = { memory: 60, sqlite: 25, postgres: 15 };

describeStores("every reachable state", (make) => {
  test("is left by some call, and none is in between", { timeout: 120_000 }, async ({ task }) => {
    const numRuns = runs[/on (\w+)/.exec(task.suite?.name ?? "")?.[1] ?? ""] ?? 10;
    const store = await make();
    let count = 0;
    await fc.assert(
      fc.asyncProperty(commands, async (list) => {
        // A tenant would do as well; a session of its own keeps the store of one test.
        const driver = new Driver(store);
        Object.assign(driver, { sessionId: `ses_${(count += 1)}` });
        for (const command of list) {
          await driver.run(command);
          await driver.check();
        }
        await driver.moveOn();
        await driver.checkLog();
        expect(driver.model.state).not.toBe("running");
      }),
      { numRuns, endOnFailure: true, timeout: 10_000 },
    );
  });
});
