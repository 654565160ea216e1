import { createOrcha, type HistoryItem } from "@orcha/client";
import { exportSessions, memoryStore } from "@orcha/server";
import { mockOrcha, type Scenario } from "@orcha/testing";
import { setupOrcha } from "@orcha/testing/node";
import { describe, expect, onTestFinished, test, vi } from "vitest";
import { agents } from "../runs/agents.ts";
import { approval, bedOf, eventsOf, variables } from "../runs/bed.ts";
import { setting } from "./setting.ts";

type Support = NonNullable<Scenario<typeof agents>["supportAgent"]>;
type History = NonNullable<Extract<NonNullable<Support["sessions"]>[number], { history?: readonly unknown[] }>["history"]>;

/** What an app sees of one conversation. */
async function seen(history: History, more: Support = {}) {
  const { mock, app } = await setting({ supportAgent: { sessions: [{ sessionId: "ses_1", history }], ...more } });
  const page = await app.supportAgent.history("ses_1");
  return { mock, app, page, items: page.items };
}

const typesOf = (items: readonly HistoryItem[]): string[] => items.map((item) => ("status" in item ? `${item.type} ${String(item.status)}` : item.type));
const ask = { clientAction: "request_human_approval", arguments: { amount: 750, currency: "USD" } } as const;

describe("a conversation as data", () => {
  test("is there as it would have happened", async () => {
    const { page, items } = await seen([
      { user: "Where is my order?" },
      { text: "Let me look.", reasoning: "Orders are looked up.", action: "lookup_order", arguments: { orderId: "A-1" }, output: { status: "lost" } },
      { calls: [{ action: "refund", arguments: { amount: 5 }, error: "the bank is closed" }, { skill: "incident_triage" }] },
      { subagent: "researcher", input: "Find it", steps: [{ text: "It is in Berlin." }] },
      { text: "It is in Berlin.", usage: { inputTokens: 10, outputTokens: 2 }, evaluations: { response_quality: { groundedness: 0.4 } } },
      { user: [{ type: "text", text: "Thanks." }] },
      { text: "Bye." },
    ]);
    expect(typesOf(items)).toEqual([
      "message",
      "message",
      "action completed",
      "skill completed",
      "action failed",
      "subagent completed",
      "message",
      "evaluation failed",
      "message",
      "message",
      "evaluation completed",
    ]);
    expect(page).toMatchObject({ status: "active", runStatus: "completed", lastOutput: "Bye." });
    expect(items[6]).toMatchObject({ usage: { inputTokens: 10, outputTokens: 2 } });
    const times = items.map(({ createdAt }) => createdAt);
    expect(times.toSorted()).toEqual(times);
    expect((times.at(-1) ?? "none") < "2026-01-01T12:00:00.000Z").toBe(true);
  });

  test("has the log that the same run writes on a server", async () => {
    const bed = bedOf(memoryStore(), { support: [{ text: "Let me look.", toolCalls: [{ name: "lookup_order", arguments: { orderId: "A-1" } }] }, { text: "It is lost." }] });
    await bed.orcha.supportAgent.run({ sessionId: "ses_1", content: "Where is A-1?", variables }).evaluations;
    const { app } = await seen([
      { user: "Where is A-1?" },
      { text: "Let me look.", action: "lookup_order", arguments: { orderId: "A-1" }, output: { status: "lost" } },
      { text: "It is lost.", evaluations: { response_quality: { groundedness: { score: 0.9, reasoning: "It says what it knows." } } } },
    ], { script: [] });
    const own = ({ data, type }: { data?: unknown; type: string }) =>
      JSON.parse(JSON.stringify({ type, data }, (key, value: unknown) => (key === "durationMs" || key === "expiresAt" ? 0 : key === "variables" ? {} : value))) as unknown;
    expect((await eventsOf(app, "ses_1")).map(own)).toEqual((await eventsOf(bed.orcha, "ses_1")).map(own));
  });

  test("waits for the app, which goes on with it", async () => {
    const { app, page } = await seen([{ user: "Refund it" }, ask], { script: [{ text: "You get 750 USD." }] });
    expect(page).toMatchObject({ runStatus: "waiting_for_client_action", pendingClientActions: [{ callId: "call_1", name: "request_human_approval" }] });
    const resumed = app.supportAgent.resume("ses_1", { toolResults: [{ callId: "call_1", output: { approved: true } }] });
    expect(await resumed.result).toMatchObject({ status: "completed", run: 1, output: "You get 750 USD." });
  });

  test("of an agent that runs elsewhere only keeps what the app answers", async () => {
    const { app } = await seen([{ user: "Refund it" }, ask]);
    const resumed = app.supportAgent.resume("ses_1", { toolResults: [{ callId: "call_1", output: { approved: true } }] });
    expect(await resumed.result).toMatchObject({ status: "recorded", pendingClientActions: [] });
    expect(await app.supportAgent.run("Hi").result).toMatchObject({ status: "failed", error: { code: "invalid_input" } });
  });

  test("knows each outcome of a client action", async () => {
    const { items } = await seen([
      { user: "All of them" },
      { calls: [{ ...ask, output: { approved: false } }, { ...ask, outcome: "denied" as const, reason: "too much" }, { ...ask, outcome: "expired" as const }] },
      { text: "Well." },
      { user: "Again" },
      ask,
      { stopped: true },
    ]);
    expect(items.flatMap((item) => (item.type === "client_action" ? [[item.status, item.outcome]] : []))).toEqual([
      ["completed", "answered"],
      ["failed", "denied"],
      ["failed", "expired"],
      ["failed", "cancelled"],
    ]);
  });

  test("can be under way, and be stopped", async () => {
    const { app, page } = await seen([{ user: "Talk" }, { text: "Once upon a time", hangs: true }], { script: [{ text: "unused" }] });
    expect(page).toMatchObject({ runStatus: "running" });
    expect(await app.supportAgent.append.safe("ses_1", { messages: [{ role: "user", content: "And?" }] })).toMatchObject({ error: { code: "session_busy" } });
    for await (const frame of app.supportAgent.tail("ses_1")) {
      if (frame.type !== "text") continue;
      expect(frame.text).toBe("Once upon a time");
      break;
    }
    expect(await app.supportAgent.stop("ses_1")).toMatchObject({ runStatus: "stopped" });
    expect((await app.supportAgent.history("ses_1")).items.at(-1)).toMatchObject({ incomplete: true, content: [{ text: "Once upon a time" }] });
  });

  test("can have an answer that was stopped, an action at work, a failure, and an end", async () => {
    const { app } = await setting({
      supportAgent: {
        sessions: [
          { sessionId: "stopped", history: [{ user: "Talk" }, { text: "Once upon", hangs: true }, { stopped: true }, { user: "Go on" }, { text: "a time." }] },
          { sessionId: "working", history: [{ user: "Where?" }, { action: "lookup_order", arguments: { orderId: "A-1" }, hangs: true }] },
          { sessionId: "failed", history: [{ user: "Where?" }, { text: "It", fail: { message: "overloaded", retryable: true } }] },
          { sessionId: "completed", history: [{ text: "How can I help?" }, { user: "Not at all" }], ended: "completed" },
          { sessionId: "paused", history: [{ user: "Refund it" }, ask], ended: "paused" },
          { sessionId: "empty", name: "Empty", metadata: { plan: "free" } },
        ],
      },
    });
    const of = async (sessionId: string) => app.supportAgent.history(sessionId);
    expect((await of("stopped")).items).toMatchObject([{ role: "user" }, { incomplete: true }, { role: "user" }, { role: "assistant" }, { type: "evaluation" }]);
    expect(await of("working")).toMatchObject({ runStatus: "running", items: [{}, { type: "action", status: "running" }] });
    expect(await of("failed")).toMatchObject({ runStatus: "failed", lastError: { code: "provider_error", message: "overloaded", retryable: true }, items: [{}, { incomplete: true }] });
    expect(await of("completed")).toMatchObject({ status: "completed", items: [{ role: "assistant" }, { role: "user" }, { type: "session_completed" }] });
    expect(await of("paused")).toMatchObject({ status: "paused", pendingClientActions: [{ callId: "call_1" }] });
    expect(await of("empty")).toMatchObject({ name: "Empty", metadata: { plan: "free" }, total: 0 });
    expect((await app.supportAgent.list()).items.map(({ sessionId }) => sessionId)).toEqual(["stopped", "working", "failed", "completed", "paused", "empty"]);
  });

  test("is told when a test says so", async () => {
    const { app } = await setting({
      supportAgent: { sessions: [{ sessionId: "ses_1", createdAt: "2025-12-24T18:00:00.000Z", history: [{ user: "Hi" }, { text: "Hello" }, { user: "Well?", at: "2025-12-25T08:00:00Z" }, { text: "Well." }] }] },
    });
    const { createdAt, items } = await app.supportAgent.history("ses_1");
    expect([createdAt, ...items.map((item) => item.createdAt)].map((time) => time.slice(5, 19))).toEqual([
      "12-24T18:00:00",
      "12-24T18:00:00",
      "12-24T18:00:01",
      "12-24T18:00:01",
      "12-25T08:00:00",
      "12-25T08:00:01",
      "12-25T08:00:01",
    ]);
  });

  test("was made when it says, or before the first time that it tells, and never goes back in time", async () => {
    const at = "2025-06-01T12:00:00.000Z";
    const answered: History = [{ user: "Hi", at }, { text: "Hello" }];
    const timesOf = async (fixture: { history: History; createdAt?: string }) => {
      const { mock } = await setting({ supportAgent: { sessions: [fixture] } });
      const { createdAt, items } = await mock.orcha.supportAgent.history("ses_test_1");
      await mock.close();
      return [createdAt, ...items.filter(({ type }) => type === "message").map((item) => item.createdAt)];
    };
    expect(await timesOf({ history: answered, createdAt: "2025-05-01T00:00:00.000Z" })).toEqual(["2025-05-01T00:00:00.000Z", at, "2025-06-01T12:00:01.000Z"]);
    expect(await timesOf({ history: answered })).toEqual([at, at, "2025-06-01T12:00:01.000Z"]);
    for (const before of [[{ text: "Welcome" }], [{ user: "Anybody?" }], [{ user: "Anybody?" }, { text: "Yes" }]] satisfies History[]) {
      const times = await timesOf({ history: [...before, ...answered] });
      expect(times).toEqual(times.toSorted());
      expect(times.at(-2)).toBe(at);
      expect(times[0]?.startsWith("2025-06-01T11:59:5")).toBe(true);
    }
  });

  test("that never ends goes without a word when its test does", async () => {
    const error = vi.spyOn(console, "error").mockReturnValue();
    const { mock } = await setting({ supportAgent: { sessions: [{ history: [{ user: "Hi" }, { text: "Well", hangs: true }] }] } });
    await mock.reset();
    await mock.close();
    // What followed the run is cut, and asks once more.
    await new Promise((resolve) => setTimeout(resolve, 500));
    expect(error).not.toHaveBeenCalled();
  });

  test("that can't be is what every request is told", async () => {
    const error = vi.spyOn(console, "error").mockReturnValue();
    const mock = setupOrcha(agents, { supportAgent: { sessions: [{ history: [{ user: "Hi" }, { action: "refund", arguments: { amount: 1 } }, { text: "?" }] }] } });
    mock.listen();
    onTestFinished(() => mock.close());
    const app = createOrcha<typeof agents>({ baseUrl: "https://agents.example.com" });
    const reason = { code: "execution_failed", retryable: false, message: expect.stringMatching(/^supportAgent\.sessions\[0\] can't be: refund: /) as string };
    expect((await app.supportAgent.list.safe()).error).toMatchObject(reason);
    expect((await mock.orcha.supportAgent.list.safe()).error).toMatchObject(reason);
    await expect(app.supportAgent.tail("ses_test_1")[Symbol.asyncIterator]().next()).rejects.toMatchObject(reason);
    expect(mock.requests).toHaveLength(2);
    expect(error).toHaveBeenCalled();
  });

  test("that can't have happened is refused in words that help", async () => {
    const refused = async (history: History) => {
      const mock = mockOrcha(agents, { supportAgent: { sessions: [{ history }] } });
      onTestFinished(() => mock.close());
      return mock.ready.then(() => "there", (error: Error) => error.message);
    };
    const untyped = (value: unknown) => value as History;
    expect(await refused([{ user: "Hi" }, ask, { text: "Done." }])).toBe("supportAgent.sessions[0] can't be: 1 steps come behind one that waits, hangs or fails");
    expect(await refused([{ user: "Hi" }, ask, { user: "And?" }, { text: "?" }])).toContain("the session waits for request_human_approval");
    expect(await refused(untyped([{ user: "Hi" }, { action: "lookup_order", arguments: {}, output: {} }, { text: "?" }]))).toContain("lookup_order: the arguments can't be used: orderId");
    expect(await refused(untyped([{ user: "Hi" }, { ...ask, arguments: { amount: "1", currency: "EUR" } }]))).toContain("request_human_approval: the arguments can't be used: amount");
    expect(await refused([{ user: "Hi" }, { action: "refund", arguments: { amount: 1 } }, { text: "?" }])).toContain("neither output nor error");
    expect(await refused([{ action: "refund", arguments: { amount: 1 }, output: {} }])).toContain("before the user says something");
    expect(await refused([{ user: "Hi" }, { clientAction: "pick_date", arguments: {}, output: {} }])).toMatch(/run 1 of session "ses_test_1" is told without its end: a text, an output or a failure$/);
    expect(await refused([{ user: "Hi" }, { subagent: "researcher", input: "?" }, { text: "?" }])).toContain("researcher has no script, and nothing is told of run 1");
    expect(await refused([{ stopped: true }])).toContain("nothing is under way that could be stopped");
    expect(await refused([{ user: "Hi" }, { stopped: true }])).toContain("nothing is under way that could be stopped");
    expect(await refused([{ user: "Hi" }, { text: "Hello" }, { stopped: true }])).toContain("nothing is under way that could be stopped");
    const [later, earlier] = ["2026-01-01T10:00:00Z", "2026-01-01T09:00:00Z"];
    expect(await refused([{ user: "Hi", at: later }, { text: "Hello" }, { user: "And?", at: earlier }, { text: "?" }])).toMatch(/at "2026-01-01T09:00:00Z" is before what stands before it, 2026-01-01T10:00:01\.000Z$/);
  });
});

describe("other fixtures", () => {
  test("messages, and events for what no conversation tells", async () => {
    const { app } = await setting({
      supportAgent: {
        sessions: [
          { sessionId: "messages", messages: [{ role: "user", content: "Hi" }, { role: "assistant", content: "Hello" }] },
          { sessionId: "events", events: Array.from({ length: 1200 }, (_, index) => ({ type: "message.created" as const, data: { role: "user" as const, content: [{ type: "text" as const, text: String(index) }] } })) },
        ],
      },
    });
    expect(await app.supportAgent.messages("messages")).toEqual([{ role: "user", content: "Hi" }, { role: "assistant", content: "Hello" }]);
    expect(await app.supportAgent.history("events")).toMatchObject({ total: 1200, hasMore: true });
  });

  test("an exported bundle of a real session", async () => {
    const store = memoryStore();
    const { orcha } = bedOf(store, { support: approval });
    await orcha.supportAgent.run({ sessionId: "ses_real", content: "Refund it", variables }).result;
    const real = await orcha.supportAgent.history("ses_real");
    const call = { principal: { tenant: "default", scopes: ["read", "log", "admin"] as const } };
    let bundle = "";
    for await (const piece of exportSessions({ agents, store }, call, { agent: "supportAgent" })) bundle += piece;
    const { app } = await setting({ supportAgent: { sessions: [{ bundle }], script: [{ text: "Done, as on the server." }] } });
    expect(await app.supportAgent.history("ses_real")).toEqual(real);
  });

  test("the same mock has the same ids, times and texts each time, and again after a reset", async () => {
    const make = () =>
      mockOrcha(agents, {
        supportAgent: {
          sessions: [{ history: [{ user: "Find it" }, { subagent: "researcher", input: "Where?", steps: [{ text: "Berlin." }] }, { text: "Berlin." }] }, { history: [{ user: "Refund" }, ask] }],
        },
      });
    const pages = async (mock: ReturnType<typeof make>) => {
      const { items } = await mock.orcha.supportAgent.list();
      return Promise.all(items.map(async ({ sessionId }) => ({ history: await mock.orcha.supportAgent.history(sessionId), events: await mock.orcha.supportAgent.events(sessionId) })));
    };
    const [one, two] = [make(), make()];
    onTestFinished(async () => void (await Promise.all([one.close(), two.close()])));
    const first = await pages(one);
    expect(first.map(({ history }) => history.sessionId)).toEqual(["ses_test_1", "ses_test_3"]);
    expect(await pages(two)).toEqual(first);
    await one.orcha.supportAgent.delete("ses_test_1");
    await one.reset();
    expect(await pages(one)).toEqual(first);
  });
});
