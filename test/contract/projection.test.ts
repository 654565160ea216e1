import {
  addUsage,
  advance,
  eventDataSchemas,
  eventsFromMessages,
  openSnapshot,
  projectSnapshot,
  unansweredEvents,
  validateHistory,
  type EventInputOf,
  type EventOf,
  type EventType,
  type StoredItem,
  type StoredSnapshot,
} from "@orcha/contract";
import { describe, expect, it, test } from "vitest";
import { logOf } from "../arbitraries.ts";
import { readCase } from "./corpus.ts";

type Inputs = { [T in EventType]: EventInputOf<T> }[EventType][];

/** The history of a log of these events, which get the sequences 2, 3, 4…; the times are the given ones. */
function itemsOf(...inputs: Inputs): StoredItem[] {
  const items: StoredItem[] = [];
  for (const { position, item } of advance(undefined, new Map(), logOf(inputs)).versions) items[position] = item;
  return items;
}

function statusesOf(...inputs: Inputs): string[] {
  return itemsOf(...inputs).map((item) => ("status" in item ? item.status : "none"));
}

function snapshotOf(...inputs: Inputs): StoredSnapshot {
  return advance(undefined, new Map(), logOf(inputs)).view.snapshot;
}

const timestamp = "2026-09-28T12:00:09Z";
const createdAt = "2026-09-28T12:00:00.000Z";
const usage = { inputTokens: 5, outputTokens: 2, reasoningTokens: null, cacheReadTokens: 0, cacheWriteTokens: 0 };
const error = { code: "action_execution_failed", message: "No such order." };
const call = { callId: "call_1", name: "lookup_order" };
const child = { callId: "call_1", agent: "researcher", sessionId: "ses_child" };
const text = { type: "text" as const, text: "Hello" };
const metric = { name: "groundedness", score: 0.9, threshold: 0.8, passed: true, reasoning: "Sources.", evidence: ["[1]"] };

function asked(...callIds: string[]): EventInputOf<"client_action.requested"> {
  return { type: "client_action.requested", data: { calls: callIds.map((callId) => ({ callId, name: "request_human_approval", arguments: { amount: 750 } })) } };
}

function settled(...callIds: string[]): EventInputOf<"client_action.resolved"> {
  return { type: "client_action.resolved", timestamp, data: { results: callIds.map((callId) => ({ callId, output: { approved: true } })) } };
}

const requested: EventInputOf<"action.requested"> = { type: "action.requested", data: { ...call, arguments: { orderId: "4" } } };
const completed: EventInputOf<"action.completed"> = { type: "action.completed", timestamp, data: { ...call, output: "secret", durationMs: 12 } };
const missing: EventInputOf<"action.failed"> = { type: "action.failed", timestamp, data: { ...call, error: { code: "result_missing", message: "" }, synthetic: true } };

describe("each row of the item table", () => {
  const rows: [string, Inputs, object[]][] = [
    ["a user message", [{ type: "message.created", timestamp, data: { role: "user", content: [text] } }], [{ id: "message:2", type: "message", createdAt: timestamp, role: "user", content: [text] }]],
    ["an assistant message with usage", [{ type: "message.created", data: { role: "assistant", content: [text], usage } }], [{ id: "message:2", type: "message", createdAt, role: "assistant", content: [text], usage }]],
    ["an answer that was cut", [{ type: "message.created", data: { role: "assistant", status: "incomplete", content: [text] } }], [{ id: "message:2", type: "message", createdAt, role: "assistant", content: [text], incomplete: true }]],
    ["an action that runs", [requested], [{ id: "action:call_1", type: "action", createdAt, ...call, status: "running", arguments: { orderId: "4" }, summary: "lookup order is running." }]],
    ["an action that completed", [requested, completed], [{ id: "action:call_1", type: "action", createdAt, updatedAt: timestamp, ...call, status: "completed", arguments: { orderId: "4" }, durationMs: 12, summary: "lookup order completed." }]],
    ["an action that failed", [requested, { type: "action.failed", timestamp, data: { ...call, error, durationMs: 3 } }], [{ id: "action:call_1", type: "action", createdAt, updatedAt: timestamp, ...call, status: "failed", arguments: { orderId: "4" }, durationMs: 3, errorCode: "action_execution_failed", summary: "lookup order failed." }]],
    ["an action that the conversation went on without", [requested, missing], [{ id: "action:call_1", type: "action", createdAt, updatedAt: timestamp, ...call, status: "failed", arguments: { orderId: "4" }, errorCode: "result_missing", summary: "lookup order got no result." }]],
    ["an action whose request is unknown", [completed], [{ id: "action:call_1", type: "action", createdAt: timestamp, ...call, status: "completed", durationMs: 12, summary: "lookup order completed." }]],
    ["a client action that waits", [{ type: "client_action.requested", data: { calls: [{ ...call, arguments: { amount: 750 }, expiresAt: timestamp }] } }], [{ id: "client-action:call_1", type: "client_action", createdAt, ...call, status: "waiting", arguments: { amount: 750 }, expiresAt: timestamp, summary: "lookup order is waiting for the client." }]],
    ["a client action without arguments", [{ type: "client_action.requested", data: { calls: [call] } }], [{ id: "client-action:call_1", type: "client_action", createdAt, ...call, status: "waiting", arguments: {}, summary: "lookup order is waiting for the client." }]],
    ["a delegation", [{ type: "subagent.initiated", data: child }], [{ id: "subagent:call_1", type: "subagent", createdAt, name: "researcher", callId: "call_1", childSessionId: "ses_child", status: "running", summary: "researcher is running." }]],
    ["a skill that loaded", [{ type: "skill.loaded", data: { callId: "c", name: "incident_triage" } }], [{ id: "skill:2", type: "skill", createdAt, name: "incident_triage", callId: "c", status: "completed", summary: "incident triage loaded." }]],
    ["a skill that was loaded", [{ type: "skill.loaded", data: { name: "incident_triage", alreadyLoaded: true } }], [{ id: "skill:2", type: "skill", createdAt, name: "incident_triage", status: "completed", summary: "incident triage was already loaded." }]],
    ["a skill that failed", [{ type: "skill.failed", data: { name: "incident_triage", error } }], [{ id: "skill:2", type: "skill", createdAt, name: "incident_triage", status: "failed", summary: "incident triage could not be loaded." }]],
    ["an evaluation that passed", [{ type: "evaluation.completed", data: { name: "response_quality", status: "passed", metrics: [metric], usage, durationMs: 9 } }], [{ id: "evaluation:2", type: "evaluation", createdAt, name: "response_quality", status: "completed", metrics: [metric], usage, durationMs: 9, summary: "response quality passed." }]],
    ["an evaluation that didn't pass", [{ type: "evaluation.completed", data: { name: "tone", status: "failed", metrics: [] } }], [{ id: "evaluation:2", type: "evaluation", createdAt, name: "tone", status: "failed", metrics: [], summary: "tone failed." }]],
    ["an evaluation that broke", [{ type: "evaluation.failed", data: { name: "tone", error: { message: "no JSON" } } }], [{ id: "evaluation:2", type: "evaluation", createdAt, name: "tone", status: "failed", metrics: [], summary: "tone failed." }]],
    ["the end of the session", [{ type: "session.completed", data: { status: "completed" } }], [{ id: "session-completed:2", type: "session_completed", createdAt, status: "completed", summary: "session completed." }]],
    ["an end with a summary", [{ type: "session.completed", data: { status: "failed", summary: "Gave up." } }], [{ id: "session-completed:2", type: "session_completed", createdAt, status: "failed", summary: "Gave up." }]],
  ];
  test.each(rows)("%s", (_title, inputs, items) => {
    expect(itemsOf(...inputs)).toStrictEqual(items);
  });

  const outcomes = [
    ["answered", "completed", "request human approval completed."],
    ["denied", "failed", "request human approval was denied."],
    ["expired", "failed", "request human approval expired."],
    ["cancelled", "failed", "request human approval was cancelled."],
  ] as const;
  test.each(outcomes)("a client action that was %s", (outcome, status, summary) => {
    const end: EventInputOf<"client_action.resolved"> = { type: "client_action.resolved", timestamp, data: { results: [{ callId: "a", outcome, output: 1, isError: true }] } };
    expect(itemsOf(asked("a"), end)).toStrictEqual([
      { id: "client-action:a", type: "client_action", createdAt, updatedAt: timestamp, name: "request_human_approval", callId: "a", status, outcome, summary },
    ]);
  });

  const moves = [
    [{ type: "subagent.completed", data: { ...child, usage } }, "completed", "researcher completed."],
    [{ type: "subagent.failed", data: child }, "failed", "researcher failed."],
    [{ type: "subagent.paused", data: child }, "paused", "researcher is paused."],
    [{ type: "subagent.paused", data: { ...child, status: "waiting_for_client_action" } }, "waiting", "researcher is waiting."],
    [{ type: "subagent.resumed", data: { ...child, callId: "call_2" } }, "running", "researcher is running."],
  ] as const;
  test.each(moves)("a delegation after $type", (event, status, summary) => {
    const [item, ...others] = itemsOf({ type: "subagent.initiated", data: child }, { ...event, timestamp });
    expect(others).toEqual([]);
    expect(item).toMatchObject({ id: "subagent:call_1", callId: "call_1", createdAt, updatedAt: timestamp, status, summary });
  });

  const silent: Inputs = [
    { type: "run.started", data: {} },
    { type: "run.paused", data: {} },
    { type: "run.completed", data: { output: "x" } },
    { type: "run.failed", data: { error } },
    { type: "run.stopped", data: {} },
    { type: "session.updated", data: { name: "x" } },
    { type: "session.paused", data: {} },
    { type: "session.resumed", data: {} },
    { type: "skill.requested", data: call },
    { type: "evaluation.requested", data: { name: "tone" } },
    { type: "message.created", data: { role: "tool", content: [{ callId: "c", output: "secret" }] } },
    { type: "message.created", data: { role: "user", content: [] } },
    { type: "message.created", data: { role: "user", content: [{ type: "text", text: "" }] } },
    { type: "message.created", data: { role: "assistant", content: [{ type: "tool_call", ...call }, { type: "reasoning", text: "hm" }] } },
    { type: "client_action.resolved", data: { results: [{ callId: "nobody asked" }] } },
  ];
  test.each(silent)("nothing for $type, %#", (event) => {
    expect(itemsOf(event)).toEqual([]);
  });

  it("covers every type of event but the first", () => {
    const covered = [...rows.flatMap(([, inputs]) => inputs), ...moves.map(([event]) => event), ...silent].map(({ type }) => type);
    expect(new Set(["session.created", ...covered])).toEqual(new Set(Object.keys(eventDataSchemas)));
  });
});

describe("what stays hidden", () => {
  it("is reasoning, tool calls, replay data and unknown fields of blocks", () => {
    const content = [
      { type: "reasoning" as const, text: "hm", replay: { opaqueData: "x" } },
      { ...text, secret: true },
      { type: "tool_call" as const, ...call, arguments: { a: 1 } },
      { type: "image" as const, mimeType: "image/png", fileUri: "https://example.com/a.png", secret: true },
      { type: "file" as const, filePath: "/a.pdf", mimeType: "application/pdf", secret: true },
    ];
    expect(itemsOf({ type: "message.created", data: { role: "assistant", content, parsedOutput: { a: 1 }, provider: "p" } })).toStrictEqual([
      {
        id: "message:2",
        type: "message",
        createdAt,
        role: "assistant",
        content: [
          { type: "text", text: "Hello" },
          { type: "image", mimeType: "image/png", fileUri: "https://example.com/a.png" },
          { type: "file", filePath: "/a.pdf", mimeType: "application/pdf" },
        ],
      },
    ]);
  });

  it("is what an action or a client answered", () => {
    expect(JSON.stringify(itemsOf(requested, completed, asked("a"), settled("a")))).not.toMatch(/secret|approved/);
  });
});

describe("a call id used again", () => {
  it("makes an item of its own, with the sequence of its request", () => {
    const ids = itemsOf(requested, completed, requested, completed, requested).map(({ id }) => id);
    expect(ids).toEqual(["action:call_1", "action:call_1#4", "action:call_1#6"]);
    expect(itemsOf(asked("a"), settled("a"), asked("a")).map(({ id }) => id)).toEqual(["client-action:a", "client-action:a#4"]);
  });

  it("gives a result to the nearest open call", () => {
    expect(statusesOf(requested, requested, completed)).toEqual(["running", "completed"]);
    expect(statusesOf(requested, requested, completed, completed)).toEqual(["completed", "completed"]);
    expect(statusesOf(asked("a"), asked("a"), settled("a"))).toEqual(["waiting", "completed"]);
    expect(statusesOf(asked("a"), asked("a"), settled("a", "a"))).toEqual(["completed", "completed"]);
  });

  it("keeps two calls of one event apart, and each settled once", () => {
    expect(itemsOf(asked("a", "a", "a")).map(({ id }) => id)).toEqual(["client-action:a", "client-action:a#2.2", "client-action:a#2.3"]);
    const { versions } = advance(undefined, new Map(), logOf([asked("a"), settled("a", "a")]));
    expect(versions.map(({ position, sequence }) => [position, sequence])).toEqual([[0, 2], [0, 3]]);
  });

  it("never makes the id of another call", () => {
    const other = { type: "action.requested" as const, data: { callId: "call_1#4", name: "x" } };
    expect(itemsOf(other, requested, requested).map(({ id }) => id)).toEqual(["action:call_1#4#2", "action:call_1", "action:call_1#4"]);
  });

  it("holds in the case from the field", () => {
    const { messages } = validateHistory(readCase("003").input);
    const items = itemsOf(...eventsFromMessages(messages, new Map()));
    expect(items).toMatchObject([
      { type: "message", role: "user" },
      { type: "action", arguments: { city: "Oslo" }, status: "completed" },
      { type: "message", role: "assistant" },
      { type: "message", role: "user" },
      { type: "action", arguments: { city: "Lima" }, status: "completed" },
      { type: "message", role: "assistant" },
    ]);
    expect(new Set(items.map(({ id }) => id)).size).toBe(6);
  });
});

describe("one outcome", () => {
  const failed: EventInputOf<"action.failed"> = { type: "action.failed", data: { ...call, error } };

  it("stands: the first", () => {
    expect(itemsOf(requested, completed, failed)).toEqual(itemsOf(requested, completed));
    expect(itemsOf(requested, failed, completed)).toEqual(itemsOf(requested, failed));
    expect(itemsOf(completed, failed)).toEqual(itemsOf(completed));
    const denied: EventInputOf<"client_action.resolved"> = { type: "client_action.resolved", data: { results: [{ callId: "a", outcome: "denied" }] } };
    expect(itemsOf(asked("a"), settled("a"), denied)).toEqual(itemsOf(asked("a"), settled("a")));
  });

  it("comes late where the conversation went on without it", () => {
    const [item] = itemsOf(requested, missing, completed);
    expect(item).toMatchObject({ status: "completed", createdAt, updatedAt: timestamp, summary: "lookup order completed." });
    expect(item).not.toHaveProperty("errorCode");
    expect(itemsOf(requested, missing, failed)).toMatchObject([{ status: "failed", errorCode: "action_execution_failed" }]);
    expect(itemsOf(requested, missing, completed, failed)).toMatchObject([{ status: "completed" }]);
    expect(itemsOf(requested, missing, requested, completed, completed)).toMatchObject([{ errorCode: "result_missing" }, { status: "completed" }]);
  });

  it("says the name that the item has", () => {
    const renamed = { ...completed, data: { ...completed.data, name: "other_name" } };
    expect(itemsOf(requested, renamed)).toMatchObject([{ name: "lookup_order", summary: "lookup order completed." }]);
  });

  it("is missing in the case from the field", () => {
    const { messages } = validateHistory(readCase("002").input);
    const events = eventsFromMessages(messages, new Map());
    const [, item] = itemsOf(...events, ...unansweredEvents([{ callId: "call_fc_1", name: "fetch_chart" }]));
    expect(item).toMatchObject({ type: "action", callId: "call_fc_1", name: "fetch_chart", status: "failed", errorCode: "result_missing" });
  });
});

describe("the snapshot", () => {
  const said: EventInputOf<"message.created"> = { type: "message.created", data: { role: "assistant", content: [text, text], usage } };
  const started: EventInputOf<"run.started"> = { type: "run.started", data: {} };
  const pending = { callId: "a", name: "request_human_approval", arguments: { amount: 750 } };

  it("opens with the session's first event", () => {
    const [created] = logOf([]) as [EventOf<"session.created">];
    const lineage = { origin: "forked" as const, sessionId: "ses_0", throughSequence: 3 };
    expect(openSnapshot({ ...created, data: { ...created.data, name: "Order 4", metadata: { a: 1 }, lineage } })).toStrictEqual({
      sessionId: "ses_test",
      agent: "supportAgent",
      name: "Order 4",
      status: "active",
      metadata: { a: 1 },
      createdAt,
      updatedAt: createdAt,
      pendingClientActions: [],
      lineage,
      sequence: 1,
    });
  });

  const rows: [string, Inputs, Partial<StoredSnapshot>][] = [
    ["time and sequence move with any event", [{ type: "skill.requested", timestamp, data: call }], { sequence: 2, updatedAt: timestamp, createdAt }],
    ["no run, no run status", [said], { runStatus: undefined }],
    ["a name is set", [{ type: "session.updated", data: { name: "New" } }], { name: "New" }],
    ["a name is cleared", [{ type: "session.updated", data: { name: "New" } }, { type: "session.updated", data: { name: null } }], { name: undefined }],
    ["metadata merges, null is a value", [{ type: "session.updated", data: { metadata: { a: 1, b: 2 } } }, { type: "session.updated", data: { metadata: { a: null }, unset: ["b"] } }], { metadata: { a: null } }],
    ["a run starts", [started], { runStatus: "running" }],
    ["a run completes", [started, { type: "run.completed", data: { usage } }], { runStatus: "completed", usage }],
    ["a run fails", [started, { type: "run.failed", data: { error } }], { runStatus: "failed", lastError: error }],
    ["the next run forgets the error", [started, { type: "run.failed", data: { error } }, started], { runStatus: "running", lastError: undefined }],
    ["a run is stopped", [started, { type: "run.stopped", data: { usage } }], { runStatus: "stopped", usage }],
    ["a run is paused", [started, { type: "run.paused", data: {} }], { runStatus: "paused" }],
    ["a run waits", [started, { type: "run.paused", data: { status: "waiting_for_client_action" } }], { runStatus: "waiting_for_client_action" }],
    ["client actions pend", [started, asked("a")], { runStatus: "waiting_for_client_action", pendingClientActions: [pending] }],
    ["one of two is answered", [started, asked("b", "a"), settled("b")], { runStatus: "waiting_for_client_action", pendingClientActions: [pending] }],
    ["the last is answered", [started, asked("a"), settled("a")], { runStatus: "running", pendingClientActions: [] }],
    ["of two of one id, one is answered", [started, asked("a"), asked("a"), settled("a")], { pendingClientActions: [pending] }],
    ["of two of one id, the nearer is answered", [{ type: "client_action.requested", data: { calls: [call] } }, { type: "client_action.requested", data: { calls: [{ ...call, arguments: { a: 1 } }] } }, settled("call_1")], { pendingClientActions: [{ ...call, arguments: {} }] }],
    ["an unknown answer changes nothing", [started, asked("a"), settled("x")], { pendingClientActions: [pending] }],
    ["a subagent works", [started, { type: "subagent.initiated", data: child }], { runStatus: "waiting_for_subagent" }],
    ["a subagent is done", [started, { type: "subagent.initiated", data: child }, { type: "subagent.failed", data: child }], { runStatus: "running" }],
    ["a subagent is done after its run", [started, { type: "run.stopped", data: {} }, { type: "subagent.completed", data: child }], { runStatus: "stopped" }],
    ["the session is paused and goes on", [started, asked("a"), { type: "session.paused", data: {} }, { type: "session.resumed", data: {} }], { status: "active", runStatus: "waiting_for_client_action" }],
    ["the session is paused", [started, { type: "session.paused", data: {} }], { status: "paused", runStatus: "paused" }],
    ["the session ends while a run is under way", [started, { type: "session.completed", data: { status: "failed" } }], { status: "completed", runStatus: "stopped" }],
    ["the session ends after its run", [started, { type: "run.completed", data: {} }, { type: "session.completed", data: { status: "completed" } }], { status: "completed", runStatus: "completed" }],
    ["the answer is the text", [said], { lastOutput: "HelloHello", totalUsage: usage, usage: undefined }],
    ["the answer is the structured output", [{ type: "message.created", data: { role: "assistant", content: [text], parsedOutput: null } }], { lastOutput: null }],
    ["a turn of calls is no answer", [said, { type: "message.created", data: { role: "assistant", content: [{ type: "tool_call", ...call }] } }], { lastOutput: "HelloHello" }],
    ["a user's text is no answer", [{ type: "message.created", data: { role: "user", content: [text] } }], { lastOutput: undefined }],
    ["usage adds up", [said, said], { totalUsage: addUsage(usage, usage) }],
  ];
  test.each(rows)("%s", (_title, inputs, expected) => {
    const snapshot = snapshotOf(...inputs);
    for (const [field, value] of Object.entries(expected)) expect(snapshot[field as keyof StoredSnapshot]).toEqual(value);
    const unset = Object.entries(snapshot).filter(([, value]) => value === undefined);
    expect(unset).toEqual([]);
  });

  it("leaves the one before as it was", () => {
    const events = logOf([{ type: "session.updated", data: { metadata: { a: 1 } } }, asked("a"), settled("a"), said]);
    let snapshot = openSnapshot(events[0] as EventOf<"session.created">);
    for (const event of events.slice(1)) {
      const before = structuredClone(snapshot);
      const next = projectSnapshot(snapshot, event);
      expect(snapshot).toEqual(before);
      snapshot = next;
    }
  });

  it("keeps metadata keys that look like a prototype", () => {
    const metadata = JSON.parse('{"__proto__":"x"}') as Record<string, string>;
    expect(JSON.stringify(snapshotOf({ type: "session.updated", data: { metadata } }).metadata)).toBe('{"__proto__":"x"}');
  });
});

test.each([
  [undefined, undefined, undefined],
  [usage, undefined, usage],
  [undefined, usage, usage],
  [usage, usage, { inputTokens: 10, outputTokens: 4, reasoningTokens: null, cacheReadTokens: 0, cacheWriteTokens: 0 }],
  [usage, { ...usage, reasoningTokens: 3 }, { inputTokens: 10, outputTokens: 4, reasoningTokens: 3, cacheReadTokens: 0, cacheWriteTokens: 0 }],
])("addUsage %#", (left, right, sum) => {
  expect(addUsage(left, right)).toEqual(sum);
});
