import { advance, type EventInput, type SessionEvent, type StoredItem } from "@orcha/contract";
import fc from "fast-check";
import { expect, test } from "vitest";
import { agentMessages, eventInputs } from "../arbitraries.ts";
import { appOf, clientOf, type TestClient } from "../harness.ts";
import { describeStores } from "../stores.ts";

/** A log in the batches that callers sent, with pages turned in between. */
const interleavings = fc.array(
  fc.oneof(
    { weight: 3, arbitrary: fc.record({ do: fc.constant("append" as const), events: eventInputs({ maxLength: 8 }) }) },
    { weight: 1, arbitrary: fc.record({ do: fc.constant("look" as const), pageSize: fc.integer({ min: 1, max: 7 }) }) },
  ),
  { minLength: 1, maxLength: 10 },
);

interface View {
  throughSequence: number;
  pageSize: number;
  items: unknown[];
}

describeStores("any log, any interleaving", (make) => {
  test("pages pinned to T are a partition of the items as of T, however much came later", { timeout: 60_000 }, async () => {
    const store = await make();
    const orcha = clientOf(store);
    await fc.assert(
      fc.asyncProperty(interleavings, async (steps) => {
        const { sessionId } = await orcha.supportAgent.create();
        const views: View[] = [];
        for (const step of steps) {
          if (step.do === "append") await tryAppend(orcha, sessionId, step.events);
          else views.push(await lookAt(orcha, sessionId, step.pageSize));
        }
        const log = await wholeLog(orcha, sessionId);
        for (const view of views) {
          const asOf = itemsAsOf(log, view.throughSequence);
          expect(view.items).toEqual(asOf);
          const again = await turn(orcha, sessionId, { pageSize: view.pageSize, throughSequence: view.throughSequence });
          expect(again).toEqual(asOf);
        }
      }),
      { numRuns: 60 },
    );
  });

  test("the incremental projection equals one from scratch", { timeout: 60_000 }, async () => {
    const orcha = clientOf(await make());
    await fc.assert(
      fc.asyncProperty(fc.array(eventInputs({ maxLength: 12 }), { minLength: 1, maxLength: 6 }), async (batches) => {
        const { sessionId } = await orcha.supportAgent.create();
        for (const events of batches) await tryAppend(orcha, sessionId, events);
        const log = await wholeLog(orcha, sessionId);
        expect(log.map(({ sequence }) => sequence)).toEqual(log.map((_, index) => index + 1));
        expect(await turn(orcha, sessionId, { pageSize: 100 })).toEqual(itemsAsOf(log, log.length));
        const { view } = advance(undefined, new Map(), log);
        expect(await orcha.supportAgent.get(sessionId)).toEqual(JSON.parse(JSON.stringify(view.snapshot)));
      }),
      { numRuns: 60 },
    );
  });

  test("messages(restore(x)) is x", { timeout: 60_000 }, async () => {
    const { rpc } = appOf(await make());
    await fc.assert(
      fc.asyncProperty(agentMessages(), async (messages) => {
        const restored = await rpc("restore", { agent: "supportAgent", messages });
        expect(restored.status).toBe(200);
        const { sessionId } = restored.json["session"] as { sessionId: string };
        const read = await rpc("messages", { agent: "supportAgent", sessionId });
        const names = new Map<string, string>();
        const expected = messages.flatMap((message, index) => {
          if (message.role === "system" && index === 0) return [];
          for (const call of message.tool_calls ?? []) names.set(call.id, call.function.name);
          return [{ ...message, ...(message.role === "tool" && !message.name ? { name: names.get(message.tool_call_id ?? "") } : {}) }];
        });
        expect(withoutNames(read.json)).toEqual(withoutNames(JSON.parse(JSON.stringify(expected))));
      }),
      { numRuns: 100 },
    );
  });

  test("messages appended turn by turn read as if they were restored at once", { timeout: 60_000 }, async () => {
    const { rpc } = appOf(await make());
    await fc.assert(
      fc.asyncProperty(agentMessages(), async (all) => {
        const messages = all.filter(({ role }) => role !== "system");
        const created = await rpc("create", { agent: "supportAgent" });
        const sessionId = created.json["sessionId"];
        for (const message of messages) {
          const appended = await rpc("append", { agent: "supportAgent", sessionId, messages: [message] });
          expect(appended.text).toContain("lastSequence");
        }
        const restored = await rpc("restore", { agent: "supportAgent", messages });
        const other = (restored.json["session"] as { sessionId: string }).sessionId;
        const [one, two] = [
          await rpc("messages", { agent: "supportAgent", sessionId }),
          await rpc("messages", { agent: "supportAgent", sessionId: other }),
        ];
        expect(one.json).toEqual(two.json);
      }),
      { numRuns: 60 },
    );
  });
});

/** The generated events are half legal: a refused batch must leave the log as it was. */
async function tryAppend(orcha: TestClient, sessionId: string, events: EventInput[]): Promise<void> {
  if (events.length === 0) return;
  const before = await orcha.supportAgent.get(sessionId);
  const { error } = await orcha.supportAgent.append.safe(sessionId, { events });
  if (!error) return;
  expect(error.code).toBe("invalid_input");
  expect(await orcha.supportAgent.get(sessionId)).toEqual(before);
}

async function lookAt(orcha: TestClient, sessionId: string, pageSize: number): Promise<View> {
  const first = await orcha.supportAgent.history(sessionId, { pageSize });
  const items = await turn(orcha, sessionId, { pageSize, throughSequence: first.throughSequence });
  return { throughSequence: first.throughSequence, pageSize, items };
}

async function turn(orcha: TestClient, sessionId: string, query: { pageSize: number; throughSequence?: number }): Promise<unknown[]> {
  const items: unknown[] = [];
  let total = 0;
  for (let page = 1, hasMore = true; hasMore; page += 1) {
    const history = await orcha.supportAgent.history(sessionId, { ...query, page });
    items.unshift(...history.items);
    ({ total, hasMore } = history);
  }
  expect(items.length).toBe(total);
  return items;
}

async function wholeLog(orcha: TestClient, sessionId: string): Promise<SessionEvent[]> {
  const log: unknown[] = [];
  for (let page = 1; ; page += 1) {
    const { events, hasMore } = await orcha.supportAgent.events(sessionId, { page, pageSize: 100 });
    log.unshift(...events);
    if (!hasMore) return log as SessionEvent[];
  }
}

function itemsAsOf(log: readonly SessionEvent[], throughSequence: number): StoredItem[] {
  const items: StoredItem[] = [];
  const { versions } = advance(undefined, new Map(), log.slice(0, throughSequence));
  for (const { position, item } of versions) items[position] = item;
  return JSON.parse(JSON.stringify(items));
}

/** Names of tool turns are compared elsewhere: for an id used twice, which call a result names depends on what is open. */
function withoutNames(messages: unknown): unknown {
  return (messages as { role: string; name?: string; tool_calls?: unknown[] }[]).map(({ name, tool_calls: calls, ...rest }) => ({
    ...rest,
    ...(rest.role === "tool" ? {} : { name }),
    ...(calls === undefined || calls.length === 0 ? {} : { tool_calls: calls }),
  }));
}
