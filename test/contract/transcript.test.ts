import {
  cancelledEvents,
  copyJson,
  eventDataSchemas,
  eventsFromMessages,
  messagesFromEvents,
  referredCallIds,
  Transcript,
  unansweredEvents,
  validateContinuation,
  validateHistory,
  type AgentMessage,
  type ClientActionResult,
  type EventInput,
  type LoggedCall,
} from "@orcha/contract";
import * as fc from "fast-check";
import * as v from "valibot";
import { describe, expect, it, test } from "vitest";
import { cpuTime } from "../cpu-time.ts";
import { agentMessages, eventInputs, eventLogs, logOf } from "../arbitraries.ts";

const noCalls = new Map<string, LoggedCall[]>();

/** What a log of these events says to a model, as read back from storage. */
function transcriptOf(events: readonly EventInput[]): AgentMessage[] {
  return messagesFromEvents(copyJson(logOf(events)));
}

function turn(...ids: string[]): AgentMessage {
  return {
    role: "assistant",
    content: null,
    tool_calls: ids.map((id) => ({ id, type: "function", function: { name: `do_${id}`, arguments: '{"a":1}' } })),
  };
}

function result(id: string, content: string | null): AgentMessage {
  return { role: "tool", content, tool_call_id: id, name: `do_${id}` };
}

function asked(...ids: string[]): EventInput[] {
  const calls = ids.map((callId) => ({ callId, name: `do_${callId}`, arguments: { a: 1 } }));
  return [
    { type: "message.created", data: { role: "assistant", content: calls.map((call) => ({ type: "tool_call", ...call })) } },
    { type: "client_action.requested", data: { calls } },
  ];
}

function resolved(...results: ClientActionResult[]): EventInput {
  return { type: "client_action.resolved", data: { results } };
}

function said(text: string): EventInput {
  return { type: "message.created", data: { role: "user", content: [{ type: "text", text }] } };
}

function toolTurn(callId: string, output: unknown): EventInput {
  return { type: "message.created", data: { role: "tool", content: [{ callId, name: `do_${callId}`, output }] } };
}

describe("the law: what is restored comes back", () => {
  it("equal to what validateHistory let in", () => {
    fc.assert(
      fc.property(agentMessages(), (messages) => {
        const checked = validateHistory(messages).messages;
        expect(transcriptOf(eventsFromMessages(checked, noCalls))).toEqual(checked);
      }),
      { numRuns: 300 },
    );
  });

  it("equal to what was given, but for a leading system message, names and empty tool_calls", () => {
    fc.assert(
      fc.property(agentMessages(), (messages) => {
        const expected = messages
          .filter(({ role }) => role !== "system")
          .map(({ role, content, tool_calls: calls, tool_call_id: id }) => ({ role, content, tool_calls: calls?.length ? calls : undefined, tool_call_id: id }));
        const read = transcriptOf(eventsFromMessages(validateHistory(messages).messages, noCalls));
        expect(read.map(({ name: _name, ...rest }) => rest)).toEqual(expected);
        for (const [index, { role, name }] of messages.filter((message) => message.role !== "system").entries()) {
          expect(read[index]?.name).toBe(role === "tool" ? (name ?? read[index]?.name ?? "missing") : name);
        }
      }),
      { numRuns: 200 },
    );
  });

  it("whether it is restored at once or goes on from what is there", () => {
    fc.assert(
      fc.property(agentMessages(), fc.nat(12), (messages, at) => {
        const whole = validateHistory(messages).messages;
        const first = whole.slice(0, at);
        const known = callsIn(first);
        const rest = validateContinuation(whole.slice(at), known).messages;
        const events = [...eventsFromMessages(first, noCalls), ...unansweredEvents([]), ...eventsFromMessages(rest, known)];
        expect(transcriptOf(events)).toEqual(whole);
      }),
      { numRuns: 200 },
    );
  });

  test.each(['{"id":9007199254740993}', '{ "a" : 1 }', '{"a":1,"a":2}', '{"b":1,"1":2}', "", '{"a":', '{"a":1.0}', '{"__proto__":{"x":1}}'])(
    "with the exact text of arguments: %s",
    (text) => {
      const made: AgentMessage = { role: "assistant", content: null, tool_calls: [{ id: "c", type: "function", function: { name: "look", arguments: text } }] };
      expect(transcriptOf(eventsFromMessages([made], noCalls))).toEqual([made]);
    },
  );

  it("writes events that the schemas accept", () => {
    fc.assert(
      fc.property(agentMessages(), (messages) => {
        expect(eventsFromMessages(validateHistory(messages).messages, noCalls).flatMap(issuesOf)).toEqual([]);
      }),
      { numRuns: 100 },
    );
  });
});

describe("events of messages", () => {
  it("are the message, and around it the requests and results of its calls", () => {
    const messages = [{ role: "user", content: "hi" } as const, turn("a", "b"), result("b", "2"), result("a", null)];
    expect(eventsFromMessages(messages, noCalls)).toEqual([
      { type: "message.created", data: { role: "user", content: [{ type: "text", text: "hi" }] } },
      {
        type: "message.created",
        data: {
          role: "assistant",
          content: [
            { type: "tool_call", callId: "a", name: "do_a", arguments: { a: 1 } },
            { type: "tool_call", callId: "b", name: "do_b", arguments: { a: 1 } },
          ],
        },
      },
      { type: "action.requested", data: { callId: "a", name: "do_a", arguments: { a: 1 } } },
      { type: "action.requested", data: { callId: "b", name: "do_b", arguments: { a: 1 } } },
      { type: "action.completed", data: { callId: "b", name: "do_b", output: "2" } },
      { type: "message.created", data: { role: "tool", content: [{ callId: "b", name: "do_b", output: "2" }] } },
      { type: "action.completed", data: { callId: "a", name: "do_a" } },
      { type: "message.created", data: { role: "tool", content: [{ callId: "a", name: "do_a" }] } },
    ]);
  });

  it("keep the text of arguments only where their JSON differs", () => {
    expect(requestWith('{"a":1}')).toEqual({ callId: "a", name: "do_a", arguments: { a: 1 } });
    expect(requestWith('{ "a":1}')).toEqual({ callId: "a", name: "do_a", arguments: { a: 1 }, argumentsText: '{ "a":1}' });
    expect(requestWith("")).toEqual({ callId: "a", name: "do_a", arguments: {}, argumentsText: "" });
    expect(requestWith('{"a":')).toEqual({ callId: "a", name: "do_a", argumentsText: '{"a":' });
  });

  it("complete one call only, where two results come", () => {
    const types = eventsFromMessages([turn("a"), result("a", "1"), result("a", "2")], noCalls).map(({ type }) => type);
    expect(types).toEqual(["message.created", "action.requested", "action.completed", "message.created", "message.created"]);
  });

  it("answer a client action of the conversation by resolving it", () => {
    const known = new Map<string, LoggedCall[]>([["a", [{ kind: "client_action", name: "do_a", state: "waiting" }]]]);
    expect(eventsFromMessages([result("a", "yes")], known)).toEqual([
      { type: "client_action.resolved", data: { results: [{ callId: "a", outcome: "answered", output: "yes" }] } },
      { type: "message.created", data: { role: "tool", content: [{ callId: "a", name: "do_a", output: "yes" }] } },
    ]);
    expect(known.get("a")).toEqual([{ kind: "client_action", name: "do_a", state: "waiting" }]);
  });

  it("complete nothing that was answered before", () => {
    const known = new Map<string, LoggedCall[]>([["a", [{ kind: "action", name: "do_a", state: "answered" }]]]);
    expect(eventsFromMessages([result("a", "again")], known).map(({ type }) => type)).toEqual(["message.created"]);
  });

  it("take a moment for 20,000 calls of one id", () => {
    const turns = Array.from({ length: 20_000 }, () => turn("a"));
    const results = Array.from({ length: 20_000 }, () => result("a", "x"));
    const start = cpuTime();
    const events = eventsFromMessages([...turns, ...results], noCalls);
    // Each call but the newest was let go of before its result came.
    expect(events).toHaveLength(60_001);
    expect(messagesFromEvents(logOf(events))).toHaveLength(40_000);
    expect(cpuTime() - start).toBeLessThan(10_000);
  });
});

describe("answers of client actions", () => {
  it("stand right behind their call, whatever was said meanwhile", () => {
    const events = [...asked("a", "b"), said("still there?"), resolved({ callId: "b", output: { ok: true } }), said("and?"), resolved({ callId: "a", output: "yes" })];
    expect(transcriptOf(events)).toEqual([
      turn("a", "b"),
      result("b", '{"ok":true}'),
      result("a", "yes"),
      { role: "user", content: "still there?" },
      { role: "user", content: "and?" },
    ]);
  });

  it("give way to a tool turn that repeats them", () => {
    const events = [...asked("a"), said("x"), resolved({ callId: "a", output: 1 }), toolTurn("a", "exact")];
    expect(transcriptOf(events)).toEqual([turn("a"), { role: "user", content: "x" }, result("a", "exact")]);
  });

  it("add nothing to a tool turn that was there before", () => {
    const events = [...asked("a"), toolTurn("a", "exact"), resolved({ callId: "a", output: 1 })];
    expect(transcriptOf(events)).toEqual([turn("a"), result("a", "exact")]);
  });

  it("count once: the first stands", () => {
    const events = [...asked("a"), resolved({ callId: "a", output: "first" }, { callId: "a", output: "second" }), resolved({ callId: "a", outcome: "cancelled" })];
    expect(transcriptOf(events)).toEqual([turn("a"), result("a", "first")]);
  });

  it("belong to the nearest open call of an id that is used again", () => {
    const events = [...asked("a"), ...asked("a"), resolved({ callId: "a", output: "second" }), resolved({ callId: "a", output: "first" })];
    expect(transcriptOf(events)).toEqual([turn("a"), result("a", "first"), turn("a"), result("a", "second")]);
  });

  it("stay behind their own turn when the id is used again", () => {
    const events = [...asked("a"), resolved({ callId: "a", output: "1" }), ...asked("a"), toolTurn("a", "2")];
    expect(transcriptOf(events)).toEqual([turn("a"), result("a", "1"), turn("a"), result("a", "2")]);
  });

  it("say nothing where no call is known", () => {
    expect(transcriptOf([resolved({ callId: "a", output: 1 })])).toEqual([]);
  });

  test.each<[ClientActionResult, string | null]>([
    [{ callId: "a" }, null],
    [{ callId: "a", output: null }, "null"],
    [{ callId: "a", output: "" }, ""],
    [{ callId: "a", outcome: "answered", output: "text", isError: true }, "text"],
    [{ callId: "a", outcome: "denied", reason: "too much" }, '{"error":"denied","reason":"too much"}'],
    [{ callId: "a", outcome: "denied" }, '{"error":"denied"}'],
    [{ callId: "a", outcome: "expired" }, '{"error":"expired"}'],
    [{ callId: "a", outcome: "cancelled", output: "ignored" }, '{"error":"cancelled"}'],
  ])("read as the model sees them: %#", (answer, content) => {
    expect(transcriptOf([...asked("a"), resolved(answer)])).toEqual([turn("a"), result("a", content)]);
  });
});

describe("a log as messages", () => {
  it("leaves out what was made up for the history", () => {
    const [made] = eventsFromMessages([turn("a")], noCalls);
    const closing = unansweredEvents([{ callId: "a", name: "do_a" }]);
    expect(closing).toMatchObject([{ type: "action.failed", data: { callId: "a", name: "do_a", error: { code: "result_missing" }, synthetic: true } }]);
    expect(transcriptOf([...(made ? [made] : []), ...closing, said("next")])).toEqual([turn("a"), { role: "user", content: "next" }]);
  });

  it("joins text, and leaves media, reasoning and replay data in the events", () => {
    const data: EventInput["data"] = {
      role: "assistant",
      content: [
        { type: "reasoning", text: "hm" },
        { type: "text", text: "a" },
        { type: "image", mimeType: "image/png", fileUri: "https://example.com/a.png" },
        { type: "text", text: "b" },
      ],
    };
    expect(transcriptOf([{ type: "message.created", data }])).toEqual([{ role: "assistant", content: "ab" }]);
  });

  it("is the same read in pieces", () => {
    fc.assert(
      fc.property(eventLogs(), (log) => {
        const transcript = new Transcript();
        for (const event of log) transcript.add(event);
        expect(transcript.messages()).toEqual(messagesFromEvents(log));
      }),
      { numRuns: 100 },
    );
  });

  it("never leaves an answer before its call", () => {
    fc.assert(
      fc.property(eventLogs(), (log) => {
        const answers = log.filter((event) => event.type !== "message.created" || event.data.role !== "tool");
        expect(() => validateHistory(messagesFromEvents(answers))).not.toThrow();
      }),
      { numRuns: 200 },
    );
  });
});

describe("closing what is open", () => {
  it("cancels client actions, no more in one event than it takes", () => {
    const open = Array.from({ length: 250 }, (_, index) => ({ callId: `c${index}`, name: "ask" }));
    const events = cancelledEvents(open);
    expect(events).toHaveLength(3);
    expect(events.flatMap(issuesOf)).toEqual([]);
    const results = events.flatMap((event) => (event.type === "client_action.resolved" ? event.data.results : []));
    expect(results).toEqual(open.map(({ callId }) => ({ callId, outcome: "cancelled" })));
    expect(cancelledEvents([])).toEqual([]);
  });
});

test("referredCallIds takes whatever it is given", () => {
  expect(referredCallIds("no")).toEqual([]);
  expect(referredCallIds([null, 5, { tool_call_id: 5, tool_calls: [null, "x", { id: 5 }, { id: "a" }] }, { tool_call_id: "b", tool_calls: {} }, { tool_call_id: "a" }])).toEqual(["a", "b"]);
});

test("generated events pass the schemas", () => {
  fc.assert(
    fc.property(eventInputs(), (inputs) => {
      expect(inputs.flatMap(issuesOf)).toEqual([]);
    }),
    { numRuns: 100 },
  );
});

/** The request that a call with this text of arguments becomes. */
function requestWith(text: string): unknown {
  const calls = [{ id: "a", type: "function" as const, function: { name: "do_a", arguments: text } }];
  return eventsFromMessages([{ role: "assistant", content: null, tool_calls: calls }], noCalls)[1]?.data;
}

function issuesOf({ type, data }: EventInput): unknown[] {
  return v.safeParse(eventDataSchemas[type], data).issues ?? [];
}

/** What a log would know of the calls after these messages. */
function callsIn(messages: readonly AgentMessage[]): Map<string, LoggedCall[]> {
  const known = new Map<string, LoggedCall[]>();
  for (const message of messages) {
    if (message.role === "tool") {
      const ofId = known.get(message.tool_call_id ?? "");
      const newest = ofId?.at(-1);
      const target = ofId?.findLast(({ state }) => state === "waiting") ?? (newest?.state === "missing" ? newest : undefined);
      if (target) target.state = "answered";
      continue;
    }
    for (const ofId of known.values()) for (const call of ofId) if (call.state === "waiting") call.state = "missing";
    for (const { id, function: named } of message.tool_calls ?? []) {
      known.set(id, [...(known.get(id) ?? []), { kind: "action", name: named.name, state: "waiting" }]);
    }
  }
  return known;
}
