import { readFileSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { scriptedModel, type ScriptEntry } from "@orcha/agent/testing";
import { createOrcha, type AgentMessage, type OrchaOptions } from "@orcha/client";
import { defineAgent, defineAgents } from "@orcha/contract";
import { createService, type Store } from "@orcha/server";
import * as v from "valibot";
import { describe, expect, test } from "vitest";
import { corpusInput, pairsOf } from "../agent/conversation.ts";
import { surroundings } from "../harness.ts";
import { describeStores } from "../stores.ts";
import { plugged, type Death } from "./plug.ts";

const corpus = join(import.meta.dirname, "../corpus");

const agents = defineAgents({
  deskBot: defineAgent({
    actions: {
      charge_card: { input: v.object({ amount: v.number() }), output: v.object({ ok: v.boolean() }) },
      send_receipt: { input: v.object({ to: v.string() }) },
    },
    clientActions: { approve: { input: v.object({ amount: v.number() }), output: v.object({ approved: v.boolean() }) } },
  }),
});

interface Desk {
  script?: Parameters<typeof scriptedModel>[0];
  clock?: ReturnType<typeof surroundings>;
  death?: Death;
  /** Gets the idempotency key of each effect. */
  effects?: string[];
  client?: Partial<OrchaOptions>;
}

/** A server of the corpus' agent on a store. */
function deskOn(store: Store, { script = [], clock, death, effects = [], client = {} }: Desk = {}) {
  const plug = plugged(store, death);
  const model = scriptedModel(script);
  const service = createService({
    agents,
    store: plug.store,
    ...(clock ? { surroundings: clock } : {}),
    implementations: {
      deskBot: {
        model,
        instructions: "You run the desk.",
        actions: {
          charge_card: (_input, { idempotencyKey }) => {
            effects.push(idempotencyKey);
            return { ok: true };
          },
          send_receipt: (_input, { idempotencyKey }) => {
            effects.push(idempotencyKey);
            return "sent";
          },
        },
      },
    },
  });
  const { deskBot } = createOrcha<typeof agents>({
    baseUrl: "http://orcha.test",
    fetch: async (input, init) => service.app.fetch(new Request(input, init)),
    ...client,
  } as OrchaOptions<typeof agents>);
  return { deskBot, model, service, plug, effects };
}

type DeskServer = ReturnType<typeof deskOn>;

function caseOf(id: string): string {
  return readdirSync(corpus).find((name) => name.startsWith(id)) ?? id;
}

/** Imports a case's log as the bytes that it is. */
async function importCase({ service }: DeskServer, id: string): Promise<void> {
  const response = await service.app.request("/api/import", {
    method: "POST",
    headers: { "content-type": "application/x-ndjson" },
    body: readFileSync(join(corpus, caseOf(id), "input.jsonl")),
  });
  expect(response.status).toBe(201);
}

async function eventsOf({ deskBot }: DeskServer, sessionId: string) {
  return (await deskBot.events(sessionId, { pageSize: 100 })).events;
}

/** A prompt that any provider takes: each call has one result, right behind its turn. */
function expectPaired({ model }: DeskServer): void {
  for (const { prompt } of model.requests) for (const { calls, results } of pairsOf(prompt)) expect(results).toEqual(calls);
}

interface Case {
  expect: {
    events: number;
    history_items: { type: string; status?: string; status_not?: string[]; callId?: string; role?: string }[];
    steps: Record<string, { events_added?: number; error?: string; status?: string; lost_messages?: number }>;
    log: Record<string, number | string>;
  };
}

describeStores("a restored conversation of the corpus", (make) => {
  test.each(["002", "003", "007", "008"])("%s goes on in a run", async (id) => {
    const desk = deskOn(await make(), { script: [{ text: "Yes." }] });
    const { session } = await desk.deskBot.restore(corpusInput<AgentMessage[]>(id));
    const before = await desk.deskBot.messages(session.sessionId);
    expect(await desk.deskBot.resume(session.sessionId, "And now?").result).toMatchObject({ status: "completed", run: 1, output: "Yes." });
    expectPaired(desk);
    expect(desk.model.requests[0]?.prompt.filter(({ content }) => content.length === 0)).toEqual([]);
    // What was restored is told as it was, and nothing of it was done again.
    expect((await desk.deskBot.messages(session.sessionId)).slice(0, before.length)).toEqual(before);
    expect(desk.effects).toEqual([]);
  });

  test.each(["001", "004", "009"])("%s is refused, and there is nothing to run", async (id) => {
    const desk = deskOn(await make(), { script: [{ text: "Yes." }] });
    const { error } = await desk.deskBot.restore.safe(corpusInput<AgentMessage[]>(id), { sessionId: "ses_refused" });
    expect(error).toMatchObject({ code: "history_invalid" });
    expect(await desk.deskBot.resume("ses_refused", "Hi").result).toMatchObject({ status: "failed", error: { code: "session_not_found" } });
    expect(desk.model.requests).toEqual([]);
  });

  test.each(["013", "019"])("%s, a log, goes on in a run", async (id) => {
    const desk = deskOn(await make(), { script: [{ text: "Yes." }] });
    await importCase(desk, id);
    const sessionId = `ses_t${id}`;
    const before = await eventsOf(desk, sessionId);
    expect(await desk.deskBot.resume(sessionId, "And now?").result).toMatchObject({ status: "completed", run: 2, output: "Yes." });
    expectPaired(desk);
    const after = await eventsOf(desk, sessionId);
    expect(after.slice(0, before.length)).toEqual(before);
    expect(after.map(({ sequence }) => sequence)).toEqual(after.map((_, index) => index + 1));
  });
});

describeStores("023: a crash after one of two actions", (make) => {
  const { expect: expected } = corpusInput<Case>("023", "case.json");
  const { history_items } = expected;

  async function expectAsCrashed(desk: DeskServer): Promise<void> {
    const history = await desk.deskBot.history("ses_t023");
    const items = history_items.map(({ status_not: _not, ...item }) => item);
    expect(history.items).toMatchObject(items);
    for (const [index, { status_not = [] }] of history_items.entries()) {
      const item = history.items[index];
      expect(status_not).not.toContain(item && "status" in item ? item.status : undefined);
    }
    expect(history.sequence).toBe(expected.events);
    expect(history.runStatus).not.toBe("completed");
  }

  test("as another program logged it: nothing runs again, and the model is told what is known", async () => {
    const desk = deskOn(await make(), { script: [{ text: "Charged; I am not sure of the receipt." }, { text: "Sure." }] });
    await importCase(desk, "023");
    expect(await eventsOf(desk, "ses_t023")).toHaveLength(expected.events);
    await expectAsCrashed(desk);
    await desk.service.sweep();
    await expectAsCrashed(desk);
    expect(await desk.deskBot.resume("ses_t023", "Is it done?").result).toMatchObject({ status: "completed", run: 2 });
    expect(desk.effects).toEqual([]);
    expect(desk.model.requests[0]?.prompt.find(({ role }) => role === "tool")).toMatchObject({
      content: [
        { toolCallId: "call_pay", output: { type: "json", value: { ok: true } } },
        { toolCallId: "call_rcpt", output: { type: "error-text" } },
      ],
    });
    expectPaired(desk);
    // Nothing is left that would hold the session.
    expect(await desk.deskBot.resume("ses_t023").result).toMatchObject({ status: "completed", run: 3 });
  });

  test("as this server logged it: the run goes on, the first action is not run again, the second under its key", async () => {
    const store = await make();
    const clock = surroundings();
    const effects: string[] = [];
    const calls: ScriptEntry = {
      toolCalls: [
        { callId: "call_pay", name: "charge_card", arguments: { amount: 5 } },
        { callId: "call_rcpt", name: "send_receipt", arguments: { to: "guest@example.test" } },
      ],
    };
    // Written are: the session with its run, the model's turn, the first request, its result with the second request.
    const one = deskOn(store, { script: [calls], clock, effects, death: { write: 4, when: "after" } });
    void one.deskBot.run({ sessionId: "ses_t023", content: "Charge 5 and send the receipt" }).result.catch(() => {});
    await expect.poll(() => one.plug.isDead()).toBe(true);

    const two = deskOn(store, { script: [{ text: "Charged, and sent." }, { text: "Welcome." }], clock, effects });
    await expectAsCrashed(two);
    const dead = await eventsOf(two, "ses_t023");
    expect(dead.map(({ type }) => type)).toEqual(corpusTypes());
    clock.advance(10_001);
    await two.service.sweep();
    await expect.poll(async () => (await two.deskBot.get("ses_t023")).runStatus).toBe("completed");
    expect(effects).toEqual(["ses_t023:call_pay", "ses_t023:call_rcpt"]);
    expect(two.model.requests).toHaveLength(1);
    expect(two.model.requests[0]?.prompt.at(-1)).toMatchObject({
      role: "tool",
      content: [
        { toolCallId: "call_pay", output: { type: "json", value: { ok: true } } },
        { toolCallId: "call_rcpt", output: { type: "text", value: "sent" } },
      ],
    });
    expect(await two.deskBot.resume("ses_t023", "Thanks").result).toMatchObject({ status: "completed", run: 2 });
  });

  function corpusTypes(): string[] {
    const lines = readFileSync(join(corpus, caseOf("023"), "input.jsonl"), "utf8").trim().split("\n");
    return lines.map((line) => (JSON.parse(line) as { type: string }).type);
  }
});

describeStores("024: one answer given twice, at once and later", (make) => {
  const { steps, log } = corpusInput<Case>("024", "case.json").expect;
  const toolResults = [{ callId: "call_ok1", output: { approved: true } }];
  const others = [{ callId: "call_ok1", output: { approved: false } }];

  /** What a step may come to, by the case's own words: "one executes", and the other is busy, or told the same. */
  function expectOne<Result extends { status: string }>(results: readonly Result[], isSameAllowed: boolean): Result | undefined {
    const [done, ...rest] = results.filter(({ status }) => status === "completed");
    expect(done).toBeDefined();
    for (const result of rest) expect(isSameAllowed && JSON.stringify(result) === JSON.stringify(done)).toBe(true);
    for (const result of results) expect(result).toMatchObject(result.status === "completed" ? {} : { status: "failed", error: { code: "session_busy" } });
    return done;
  }

  describe.each([
    ["one server", false],
    ["two servers", true],
  ])("on %s", (_servers, areTwo) => {
    test("steps a to e", async () => {
      const store = await make();
      let held: Promise<unknown> | undefined;
      const script = async ({ prompt }: { prompt: readonly { role: string }[] }) => {
        await held;
        return prompt.at(-1)?.role === "user" && prompt.length < 4
          ? { toolCalls: [{ callId: "call_ok1", name: "approve", arguments: { amount: 750 } }] }
          : { text: "Done.", delayMs: 20 };
      };
      const client = { retry: false } as const;
      const one = deskOn(store, { script, client });
      const two = areTwo ? deskOn(store, { script, client }) : one;
      const asked = () => one.model.requests.length + (areTwo ? two.model.requests.length : 0);
      const { sessionId, result } = one.deskBot.run("Pay");
      expect(await result).toMatchObject({ status: "waiting_for_client_action", pendingClientActions: [{ callId: "call_ok1", arguments: { amount: 750 } }] });

      const a = expectOne(await Promise.all([one, two].map(({ deskBot }) => deskBot.resume(sessionId, { toolResults }).result)), true);
      expect(asked()).toBe(2);
      const { length } = await eventsOf(one, sessionId);

      const b = await two.deskBot.resume(sessionId, { toolResults }).result;
      expect(b).toEqual(a);
      expect(b.status).toBe(steps["b"]?.status);
      expect((await eventsOf(one, sessionId)).length - length).toBe(steps["b"]?.events_added);

      const c = await one.deskBot.resume(sessionId, { toolResults: others }).result;
      expect(c).toMatchObject({ status: "failed", error: { code: steps["c"]?.error } });
      expect((await eventsOf(one, sessionId)).length - length).toBe(steps["c"]?.events_added);

      const texts = ["first", "second"];
      const { promise, resolve: goOn } = Promise.withResolvers<void>();
      held = promise;
      const both = [one.deskBot.resume(sessionId, "first").result, two.deskBot.resume(sessionId, "second").result];
      // The one that is taken is at work until the other was refused.
      await Promise.race(both);
      goOn();
      const d = await Promise.all(both);
      expectOne(d, false);
      const accepted = texts.filter((_, index) => d[index]?.status === "completed");
      expect(accepted).toHaveLength(1);

      const events = await eventsOf(one, sessionId);
      const said = events.flatMap((event) => (event.type === "message.created" && event.data.role === "user" ? [event.data.content[0]] : []));
      expect(said).toMatchObject(["Pay", ...accepted].map((text) => ({ text })));
      expect(events.filter(({ type }) => type === "client_action.resolved")).toHaveLength(Number(log["client_action.resolved"]));
      const messages = await one.deskBot.messages(sessionId);
      expect(messages.filter(({ tool_call_id }) => tool_call_id === "call_ok1")).toHaveLength(Number(log["tool messages for call_ok1"]));
      expect(events.map(({ sequence }) => sequence)).toEqual(events.map((_, index) => index + 1));
      // One question for each submission that was taken.
      expect(asked()).toBe(3);
    });
  });

  test("two texts at once, from clients that try again: both are answered, none is lost", async () => {
    const desk = deskOn(await make(), { script: () => ({ text: "Done.", delayMs: 5 }), client: { retry: { minDelayMs: 5, maxDelayMs: 20, attempts: 20 } } });
    const { sessionId, result } = desk.deskBot.run("Hi");
    await result;
    const results = await Promise.all(["first", "second"].map((text) => desk.deskBot.resume(sessionId, text).result));
    expect(results.map(({ status }) => status)).toEqual(["completed", "completed"]);
    const said = (await desk.deskBot.messages(sessionId)).flatMap(({ role, content }) => (role === "user" ? [content] : []));
    expect(new Set(said)).toEqual(new Set(["Hi", "first", "second"]));
    expect(said).toHaveLength(3);
    expect(desk.model.requests).toHaveLength(3);
  });
});
