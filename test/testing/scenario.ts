import type { Orcha, TailFrame } from "@orcha/client";
import type { Scenario } from "@orcha/testing";
import type { agents } from "../runs/agents.ts";

/** What the agents do while the conversation below is had, wherever it is had. */
export const scenario: Scenario<typeof agents> = {
  supportAgent: {
    script: [
      { text: "Let me look.", callId: "call_look", action: "lookup_order", arguments: { orderId: "A-1" }, output: { status: "lost" } },
      { callId: "call_ask", clientAction: "request_human_approval", arguments: { amount: 750, currency: "USD" } },
      { text: "You get your money back.", chunkSize: 6, delayMs: 15 },
      { callId: "call_find", subagent: "researcher", input: "Find the parcel" },
      { text: "It is in Berlin.", evaluations: { response_quality: { groundedness: 0.5 } } },
      { fail: { message: "overloaded", statusCode: 400 } },
    ],
  },
  researcher: { script: [{ text: "Berlin." }] },
  sorter: { script: [{ output: { label: "bug" } }] },
};

/** Where the conversation is had. */
export interface Ground {
  orcha: Orcha<typeof agents>;
  /** Breaks every open connection. */
  cut: () => void | Promise<void>;
}

/** Talks to a server as an app does, and tells all that it saw. Ids and times are the server's own. */
export async function play(ground: Ground): Promise<Record<string, unknown>> {
  return {
    pages: await pages(ground),
    tail: await tail(ground),
    run: await run(ground),
    subagent: await subagent(ground),
    failures: await failures(ground),
    repeats: await repeats(ground),
    refusals: await refusals(ground),
    sessions: await sessions(ground),
  };
}

const said = (text: string) => ({ messages: [{ role: "user" as const, content: text }] });

async function pages({ orcha: { supportAgent } }: Ground) {
  const messages = Array.from({ length: 23 }, (_, index) => ({ role: index % 2 === 0 ? ("user" as const) : ("assistant" as const), content: `message ${index}` }));
  const restored = await supportAgent.restore(messages, { sessionId: "ses_pages", name: "Many", metadata: { plan: "free" } });
  const read = [];
  for await (const page of supportAgent.pages("ses_pages", { pageSize: 7 })) {
    read.push(page);
    // What comes meanwhile moves no page of this view.
    await supportAgent.append("ses_pages", said(`meanwhile ${read.length}`));
  }
  const pinned = await supportAgent.history("ses_pages", { page: 2, pageSize: 7, throughSequence: read[0]?.throughSequence });
  return { restored, read, pinned, newest: await supportAgent.history("ses_pages", { pageSize: 2 }), model: await supportAgent.messages("ses_pages") };
}

async function tail({ orcha: { supportAgent }, cut }: Ground) {
  await supportAgent.restore([{ role: "user", content: "one" }], { sessionId: "ses_tail" });
  const { throughSequence } = await supportAgent.history("ses_tail");
  await supportAgent.append("ses_tail", said("two"));
  // A frame that was on its way when a connection broke comes again: what counts is each item as it was told last.
  const items = new Map<string, Extract<TailFrame, { type: "item" }>>();
  for await (const frame of supportAgent.tail("ses_tail", { after: throughSequence })) {
    if (frame.type === "end") return { items: [...items.values()], end: frame };
    if (frame.type !== "item") continue;
    const isNew = !items.has(frame.item.id);
    items.set(frame.item.id, frame);
    if (!isNew) continue;
    if (items.size === 1) {
      await cut();
      await supportAgent.append("ses_tail", said("three"));
    }
    if (items.size === 2) await supportAgent.append("ses_tail", said("four"));
    if (items.size === 3) {
      await cut();
      await supportAgent.complete("ses_tail", { summary: "Told." });
    }
  }
  return "cut for good";
}

async function run({ orcha: { supportAgent } }: Ground) {
  const asked = supportAgent.run({ sessionId: "ses_run", content: "Where is A-1?", name: "A-1" });
  const waiting = await asked.result;
  const pending = await supportAgent.history("ses_run");
  const toolResults = [{ callId: "call_ask", output: { approved: true } }];
  const early = await supportAgent.resume("ses_run", "Well?").result;
  const answered = supportAgent.resume("ses_run", { toolResults });
  const texts: string[] = [];
  for await (const frame of answered.stream) if (frame.status === "streaming") texts.push(frame.output);
  const result = await answered.result;
  const isWhole = texts.every((text, index) => text.startsWith(texts[index - 1] ?? "") && "You get your money back.".startsWith(text));
  const evaluations = await answered.evaluations;
  const again = await supportAgent.resume("ses_run", { toolResults }).result;
  const other = await supportAgent.resume("ses_run", { toolResults: [{ callId: "call_ask", output: { approved: false } }] }).result;
  const log = await supportAgent.events("ses_run", { pageSize: 100 });
  return { waiting, pending, early, isWhole, streamed: texts.length > 1, result, evaluations, again, other, log, history: await supportAgent.history("ses_run") };
}

async function subagent({ orcha }: Ground) {
  const execution = orcha.supportAgent.run({ sessionId: "ses_parent", content: "Find it" });
  const result = await execution.result;
  const evaluations = await execution.evaluations;
  const { items } = await orcha.supportAgent.history("ses_parent");
  const child = items.find((item) => item.type === "subagent")?.childSessionId ?? "";
  return { result, evaluations, items, child: await orcha.supportAgent.subagentHistory(child), sorted: await orcha.sorter.run({ sessionId: "ses_sort", content: "It crashes" }).result };
}

async function failures({ orcha: { supportAgent, elsewhere } }: Ground) {
  const failed = await supportAgent.run({ sessionId: "ses_failed", content: "Hi" }).result;
  const snapshot = await supportAgent.get("ses_failed");
  return { failed, snapshot, notHere: await elsewhere.run({ sessionId: "ses_elsewhere", content: "Hi" }).result };
}

async function repeats({ orcha: { supportAgent } }: Ground) {
  await supportAgent.create({ sessionId: "ses_twice" });
  const key = { idempotencyKey: "key-1" };
  const first = await supportAgent.append("ses_twice", said("once"), key);
  const second = await supportAgent.append("ses_twice", said("once"), key);
  const other = await supportAgent.append.safe("ses_twice", said("other"), key);
  return { first, second, other: errorOf(other), total: (await supportAgent.history("ses_twice")).total };
}

async function refusals({ orcha: { supportAgent, researcher } }: Ground) {
  await supportAgent.create({ sessionId: "ses_there" });
  const call = { callId: "call_1", name: "request_human_approval", arguments: { amount: 1, currency: "EUR" } };
  await supportAgent.append("ses_there", { events: [{ type: "client_action.requested", data: { calls: [call] } }] });
  const refused = {
    taken: await supportAgent.create.safe({ sessionId: "ses_there" }),
    conflict: await supportAgent.append.safe("ses_there", said("late"), { ifSequence: 1 }),
    unknown: await supportAgent.history.safe("ses_nowhere"),
    others: await researcher.history.safe("ses_there"),
    page: await supportAgent.history.safe("ses_there", { page: 0 }),
    pageSize: await supportAgent.history.safe("ses_there", { pageSize: 101 }),
    future: await supportAgent.history.safe("ses_there", { throughSequence: 99 }),
    orphan: await supportAgent.restore.safe([{ role: "tool", content: "?", tool_call_id: "call_x" }]),
    metadata: await supportAgent.update.safe("ses_there", { metadata: { " ": 1 } }),
    completed: await supportAgent.complete("ses_there").then(() => supportAgent.append.safe("ses_there", said("late"))),
  };
  const unknownCall = await supportAgent.resume("ses_tail", { toolResults: [{ callId: "call_x", output: 1 }] }).result;
  return { ...Object.fromEntries(Object.entries(refused).map(([name, outcome]) => [name, errorOf(outcome)])), unknownCall };
}

async function sessions({ orcha: { supportAgent } }: Ground) {
  const copy = await supportAgent.fork("ses_run", { throughSequence: 4, name: "Another way" });
  const updated = await supportAgent.update("ses_pages", { name: null, metadata: { plan: "paid" }, unset: [] });
  const paid = await supportAgent.list({ metadata: { plan: "paid" } });
  await supportAgent.delete("ses_pages");
  const gone = errorOf(await supportAgent.get.safe("ses_pages"));
  const taken = errorOf(await supportAgent.create.safe({ sessionId: "ses_pages" }));
  return { copy, updated, paid, gone, taken };
}

function errorOf({ error }: { error?: { code: unknown; message: string; status?: number; retryable: boolean; details?: unknown } }) {
  return error && { code: error.code, message: error.message, status: error.status, retryable: error.retryable, details: error.details };
}
