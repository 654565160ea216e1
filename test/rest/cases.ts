import { scriptedModel } from "@orcha/agent/testing";
import type { OperationName } from "@orcha/contract";
import { importSessions, type Call, type Store } from "@orcha/server";

/** One call, and what it is about. */
export interface Case {
  name: string;
  input: Record<string, unknown>;
  headers?: Record<string, string>;
  /** The code of the error that it meets. */
  code?: string;
}

const agent = "supportAgent";
const at = (sessionId: string, more: object = {}) => ({ agent, sessionId, ...more });
const missing: Case = { name: "of a session that isn't there", input: at("nowhere"), code: "session_not_found" };
const noAgent: Case = { name: "of an agent that isn't there", input: { agent: "nobody", sessionId: "ses_1" }, code: "agent_not_found" };
const badId: Case = { name: "of an id that can't be", input: at("-x"), code: "invalid_input" };
const unknownField: Case = { name: "with a field that isn't there", input: at("ses_1", { nonsense: "1" }), code: "invalid_input" };
const absent = (more: object): Case => ({ ...missing, input: at("nowhere", more) });
const hello = [{ role: "user", content: "Hello" }];
const pages: Case[] = [
  { name: "newest page", input: at("ses_1") },
  { name: "a page of three", input: at("ses_1", { page: 2, pageSize: 3 }) },
  { name: "a pinned page", input: at("ses_1", { throughSequence: 3 }) },
  { name: "a page behind the last", input: at("ses_1", { page: 99 }) },
  { name: "an empty session", input: at("empty") },
  { name: "a completed session", input: at("done") },
  { name: "page 0", input: at("ses_1", { page: 0 }), code: "invalid_input" },
  { name: "half a page", input: at("ses_1", { page: 1.5 }), code: "invalid_input" },
  { name: "too large a page", input: at("ses_1", { pageSize: 101 }), code: "invalid_input" },
  { name: "a page of the future", input: at("ses_1", { throughSequence: 999 }), code: "invalid_input" },
  missing,
  noAgent,
  badId,
  unknownField,
];

const children: Case[] = [
  { name: "of a child", input: at("child") },
  { name: "a page of one", input: at("child", { page: 2, pageSize: 1 }) },
  { name: "of a session that nobody delegated", input: at("ses_1"), code: "session_not_found" },
  { name: "of a child of another agent", input: { agent: "researcher", sessionId: "child" }, code: "session_not_found" },
  { name: "page 0", input: at("child", { page: 0 }), code: "invalid_input" },
  missing,
  noAgent,
  badId,
  unknownField,
];

const interruptions: Case[] = [
  { name: "one that waits", input: at("ses_1") },
  { name: "an empty one", input: at("empty") },
  { name: "a completed one", input: at("done"), code: "session_completed" },
  { name: "where it should not", input: at("ses_1"), headers: { "if-match": "1" }, code: "sequence_conflict" },
  missing,
  noAgent,
  badId,
];

/** Calls of every operation, on what `seed` wrote: a new operation needs a line here. */
export const cases: Record<OperationName, readonly Case[]> = {
  create: [
    { name: "with nothing", input: { agent } },
    { name: "with everything", input: at("mine", { name: " A name ", metadata: { tier: "paid", n: 1, x: null } }) },
    { name: "twice", input: at("ses_1"), code: "session_exists" },
    { name: "bad metadata", input: at("new", { metadata: { deep: {} } }), code: "invalid_input" },
    { name: "metadata against the agent's schema", input: { agent: "researcher", metadata: { tier: "gold" } }, code: "invalid_input" },
    { name: "under a key", input: at("keyed"), headers: { "idempotency-key": "k1" } },
    { name: "under a key that can't be", input: at("keyed"), headers: { "idempotency-key": "k 1" }, code: "invalid_input" },
    { name: "under a key of another call", input: at("other"), headers: { "idempotency-key": "seeded" } },
    noAgent,
    badId,
    unknownField,
  ],
  restore: [
    { name: "a conversation", input: { agent, messages: [...hello, { role: "assistant", content: "Hi" }] } },
    { name: "under an id and a name", input: at("told", { messages: hello, name: "Told", metadata: { a: true } }) },
    {
      name: "a result without a call",
      input: { agent, messages: [{ role: "tool", tool_call_id: "x", content: "1" }] },
      code: "history_invalid",
    },
    { name: "no list", input: { agent, messages: "Hello" }, code: "history_invalid" },
    { name: "twice", input: at("ses_1", { messages: hello }), code: "session_exists" },
    { ...noAgent, input: { agent: "nobody", messages: hello } },
  ],
  append: [
    { name: "messages", input: at("ses_1", { messages: hello }) },
    { name: "events", input: at("empty", { events: [{ type: "message.created", data: { role: "user", content: [] } }] }) },
    { name: "where it should", input: at("ses_1", { messages: hello }), headers: { "if-match": '"12"' } },
    { name: "where it should not", input: at("ses_1", { messages: hello }), headers: { "if-match": '"3"' }, code: "sequence_conflict" },
    { name: "at no sequence", input: at("ses_1", { messages: hello }), headers: { "if-match": "W/3" }, code: "invalid_input" },
    { name: "nothing", input: at("ses_1"), code: "invalid_input" },
    { name: "an unknown event", input: at("ses_1", { events: [{ type: "nope", data: {} }] }), code: "invalid_input" },
    { name: "to a completed session", input: at("done", { messages: hello }), code: "session_completed" },
    { name: "too much", input: at("ses_1", { events: Array.from({ length: 1001 }, () => ({})) }), code: "payload_too_large" },
    absent({ messages: hello }),
    noAgent,
  ],
  resume: [
    { name: "with an answer", input: at("ses_1", { toolResults: [{ callId: "c2", output: { approved: true } }] }) },
    { name: "with a denial", input: at("ses_1", { toolResults: [{ callId: "c2", deny: true, reason: "no" }] }) },
    { name: "of an unknown call", input: at("ses_1", { toolResults: [{ callId: "zzz", output: 1 }] }), code: "unknown_call_id" },
    { name: "of the wrong shape", input: at("ses_1", { toolResults: [{ callId: "c2", output: 7 }] }), code: "invalid_tool_result" },
    { name: "without answers", input: at("ses_1"), code: "missing_tool_results" },
    absent({ toolResults: [{ callId: "c2", output: 1 }] }),
    noAgent,
  ],
  run: [
    { name: "to its result", input: { agent: "researcher", sessionId: "ran", content: "Find it", metadata: { customerId: "c" } } },
    { name: "of an agent that runs elsewhere", input: { agent, content: "Hello" }, code: "invalid_input" },
    { name: "with nothing to say", input: { agent: "researcher", content: " " }, code: "invalid_input" },
    { name: "without a message", input: { agent: "researcher" }, code: "invalid_input" },
    { name: "with a client action that isn't there", input: { agent: "researcher", content: "x", clientCapabilities: ["nope"] }, code: "invalid_input" },
    { name: "under an id that is taken", input: { agent: "researcher", sessionId: "child", content: "x", metadata: { customerId: "c" } }, code: "session_exists" },
    { ...noAgent, input: { agent: "nobody", content: "x" } },
  ],
  pause: interruptions,
  stop: interruptions,
  subagentHistory: children,
  subagentEvents: children,
  tail: [
    { name: "from the start", input: at("ses_1", { after: 0 }) },
    { name: "from a page", input: at("ses_1", { after: 5 }) },
    { name: "of a completed session", input: at("done", { after: 2 }) },
    { name: "from the future", input: at("ses_1", { after: 99 }), code: "invalid_input" },
    { name: "from nowhere", input: at("ses_1", { after: -1 }), code: "invalid_input" },
    { ...missing, input: at("nowhere", { after: 0 }) },
    noAgent,
    badId,
    unknownField,
  ],
  get: [{ name: "a session", input: at("ses_1") }, { name: "an empty one", input: at("empty") }, missing, noAgent, badId, unknownField],
  list: [
    { name: "all", input: { agent } },
    { name: "the first one", input: { agent, pageSize: 1 } },
    { name: "by status", input: { agent, status: "completed" } },
    { name: "by run status", input: { agent, runStatus: "waiting_for_client_action" } },
    { name: "by metadata", input: { agent, metadata: { tier: "paid", n: 1 } } },
    { name: "by a text that looks like a number", input: { agent, metadata: { n: "1" } } },
    { name: "by metadata that can't be", input: { agent, metadata: { tier: ["paid"] } }, code: "invalid_input" },
    { name: "by metadata that is no object", input: { agent, metadata: [1] }, code: "invalid_input" },
    { name: "by a status that isn't there", input: { agent, status: "gone" }, code: "invalid_input" },
    { name: "from nowhere", input: { agent, cursor: "nonsense" }, code: "invalid_input" },
    { name: "none", input: { agent: "researcher" } },
    { name: "of an agent that isn't there", input: { agent: "nobody" }, code: "agent_not_found" },
  ],
  update: [
    { name: "the name", input: at("ses_1", { name: "New" }) },
    { name: "no name", input: at("ses_1", { name: null }) },
    { name: "metadata", input: at("ses_1", { metadata: { plan: "b" }, unset: ["tier"] }) },
    { name: "where it should not", input: at("ses_1", { name: "New" }), headers: { "if-match": "1" }, code: "sequence_conflict" },
    { name: "a blank name", input: at("ses_1", { name: " " }), code: "invalid_input" },
    absent({ name: "New" }),
    noAgent,
    unknownField,
  ],
  complete: [
    { name: "an empty one", input: at("empty") },
    { name: "as failed", input: at("empty", { status: "failed", summary: "It didn't work." }) },
    { name: "one that waits", input: at("ses_1", { summary: "Done." }) },
    { name: "as something else", input: at("empty", { status: "gone" }), code: "invalid_input" },
    missing,
    noAgent,
  ],
  fork: [
    { name: "at the end", input: at("done") },
    { name: "at the first event", input: at("ses_1", { throughSequence: 1, name: "Copy" }) },
    { name: "in the future", input: at("ses_1", { throughSequence: 999 }), code: "invalid_input" },
    missing,
    noAgent,
  ],
  delete: [
    { name: "a session", input: at("ses_1") },
    { name: "where it should not", input: at("ses_1"), headers: { "if-match": "1" }, code: "sequence_conflict" },
    missing,
    noAgent,
    badId,
  ],
  history: pages,
  events: pages,
  messages: [
    { name: "a session", input: at("ses_1") },
    { name: "an empty one", input: at("empty") },
    { name: "a completed one", input: at("done") },
    missing,
    noAgent,
    badId,
    unknownField,
  ],
};

type Rpc = (operation: string, input: unknown, headers?: Record<string, string>) => Promise<{ status: number; text: string }>;

const usage = { inputTokens: 5, outputTokens: 7, reasoningTokens: null, cacheReadTokens: 0, cacheWriteTokens: 0 };
const approval = { callId: "c2", name: "request_human_approval", arguments: { amount: 750, currency: "USD" } };

/** Every kind of item and most kinds of events. */
const told = [
  { type: "run.started", data: {}, run: 1 },
  {
    type: "message.created",
    data: {
      role: "assistant",
      usage,
      content: [
        { type: "reasoning", text: "Hm." },
        { type: "text", text: 'Let me "look" – 👀 \u2028' },
        { type: "image", mimeType: "image/png", fileUri: "https://example.com/a.png" },
        { type: "file", mimeType: "text/plain", filePath: "/tmp/a" },
        { type: "tool_call", callId: "c1", name: "lookup_order", arguments: { orderId: "1" } },
        { type: "tool_call", ...approval },
      ],
    },
  },
  { type: "action.requested", data: { callId: "c1", name: "lookup_order", arguments: { orderId: "1", "10": 1, "2": [1e21, -0.5] } } },
  { type: "action.completed", data: { callId: "c1", name: "lookup_order", output: { status: "lost" }, durationMs: 3 } },
  { type: "skill.loaded", data: { name: "incident_triage" } },
  { type: "subagent.initiated", data: { callId: "c3", agent: "researcher", sessionId: "child" } },
  { type: "subagent.completed", data: { callId: "c3", agent: "researcher", sessionId: "child", output: "x", usage } },
  {
    type: "evaluation.completed",
    data: {
      name: "response_quality",
      status: "passed",
      metrics: [{ name: "groundedness", score: 0.9, threshold: 0.8, passed: true, reasoning: "", evidence: [] }],
    },
  },
  { type: "client_action.requested", data: { calls: [approval] } },
];

/** A session that `supportAgent` delegated, as a log of it says. */
const childLog = [
  {
    type: "session.created",
    data: {
      schemaVersion: 1,
      sessionId: "child",
      agent: "researcher",
      status: "active",
      metadata: {},
      variables: {},
      lineage: { origin: "delegated", parentAgent: "supportAgent", parentSessionId: "ses_1", parentCallId: "c3" },
    },
  },
  { type: "message.created", run: 1, data: { role: "user", content: [{ type: "text", text: "Find it" }] } },
  { type: "message.created", run: 1, data: { role: "assistant", content: [{ type: "text", text: "Found." }] } },
].map((event, index) => JSON.stringify({ sequence: index + 1, v: 1, timestamp: "2026-09-28T12:00:00.000Z", ...event }));

/** The one agent of the cases that their server runs itself. */
export const implementations = { researcher: { model: scriptedModel(() => ({ text: "Found." })), instructions: "You research." } };

/** Adds a delegated session. */
export async function seedChild(store: Store): Promise<void> {
  const call: Call = { principal: { tenant: "default", scopes: ["admin"] } };
  await importSessions({ store }, call, [new TextEncoder().encode(childLog.join("\n"))]);
}

/** Writes what the cases stand on. */
export async function seed(rpc: Rpc): Promise<void> {
  const calls: [string, object][] = [
    ["restore", at("ses_1", { messages: [...hello, { role: "user", content: "Where is it?" }], metadata: { tier: "paid", n: 1 } })],
    ["append", at("ses_1", { events: told })],
    ["create", at("empty", { metadata: { n: "1" } })],
    ["restore", at("done", { messages: [...hello, { role: "assistant", content: "Hi" }] })],
    ["complete", at("done", { summary: "Done." })],
  ];
  for (const [operation, input] of calls) {
    const { status, text } = await rpc(operation, input);
    if (status !== 200) throw new Error(text);
  }
}
