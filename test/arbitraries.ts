import {
  eventVersion,
  type AgentMessage,
  type AgentToolCall,
  type AssistantContent,
  type EventInput,
  type EventInputOf,
  type EventType,
  type MessageContent,
  type SessionEvent,
  type ToolResultContent,
  type Usage,
} from "@orcha/contract";
import * as fc from "fast-check";

/*
 * What a conversation may hold, for properties. Small pools make ids, names and times meet;
 * everything generated here passes the checks at the door.
 */

const oddTexts = ["", " ", "a\0b", "\ud83d", "x\udc00y", "👩‍👩‍👧", "e\u0301", "\u202Eabc", "</script>", "\\u0000", '"', "__proto__", "null"];

/** Any text: ordinary, empty, NUL, half a surrogate pair. */
export function texts(): fc.Arbitrary<string> {
  return fc.oneof(
    { weight: 4, arbitrary: fc.string({ maxLength: 12 }) },
    { weight: 2, arbitrary: fc.constantFrom(...oddTexts) },
    { weight: 1, arbitrary: fc.string({ unit: "binary", maxLength: 6 }) },
  );
}

/** Call ids from a pool so small that later turns use them again. */
export function callIds(): fc.Arbitrary<string> {
  return fc.constantFrom("call_0", "call_1", "call_2", "a", "a#3", "a#3#4", "é\0", "x\ud800", '"\\', "__proto__", "constructor");
}

function names(): fc.Arbitrary<string> {
  return fc.constantFrom("lookup_order", "get_weather", "request_human_approval", "toString", "naïve\0");
}

/** Exact texts of arguments: JSON in any dress, JSON that numbers can't hold, and what is no JSON object at all. */
export function argumentTexts(): fc.Arbitrary<string> {
  return fc.oneof(
    fc.constantFrom(
      "{}",
      "",
      "  ",
      '{"id":9007199254740993}',
      '{ "a" : 1 }',
      '{"a":1,"a":2}',
      '{"b":1,"1":2,"0":3}',
      '{"__proto__":{"x":1}}',
      '{"a":-0}',
      '{"a":1.0}',
      '{"a":1e400}',
      '{"a":"\\ud800"}',
      '{"a":"\ud800"}',
      '{"a":',
      '{"a":1}{"a":1}',
      "[1]",
      "null",
      "NaN",
      `{"a":${"[".repeat(70)}${"]".repeat(70)}}`,
    ),
    fc.dictionary(texts(), fc.jsonValue({ maxDepth: 2 }), { maxKeys: 3 }).map((value) => JSON.stringify(value)),
  );
}

function optional<T>(arbitrary: fc.Arbitrary<T>): fc.Arbitrary<T | undefined> {
  return fc.option(arbitrary, { nil: undefined, freq: 2 });
}

/** Leaves out what is undefined, as JSON would. */
function compact<T extends object>(value: T): T {
  return Object.fromEntries(Object.entries(value).filter(([, field]) => field !== undefined)) as T;
}

type Step =
  | { kind: "user"; content: string | null; name: string | undefined }
  | {
      kind: "assistant";
      content: string | null;
      name: string | undefined;
      calls: { id: string; name: string; arguments: string }[];
      emptyCalls: boolean;
      /** Which of the calls are answered at once, in this order. */
      answers: { pick: number; content: string | null; named: boolean }[];
    }
  | { kind: "result"; pick: number; content: string | null; name: string | undefined };

function contents(): fc.Arbitrary<string | null> {
  return fc.oneof({ weight: 5, arbitrary: texts() }, { weight: 1, arbitrary: fc.constant(null) });
}

function steps(): fc.Arbitrary<Step> {
  return fc.oneof(
    { weight: 2, arbitrary: fc.record({ kind: fc.constant("user" as const), content: contents(), name: optional(texts()) }) },
    {
      weight: 4,
      arbitrary: fc.record({
        kind: fc.constant("assistant" as const),
        content: contents(),
        name: optional(texts()),
        calls: fc.array(fc.record({ id: callIds(), name: names(), arguments: argumentTexts() }), { maxLength: 3 }),
        emptyCalls: fc.boolean(),
        answers: fc.array(fc.record({ pick: fc.nat(5), content: contents(), named: fc.boolean() }), { maxLength: 4 }),
      }),
    },
    {
      weight: 1,
      arbitrary: fc.record({
        kind: fc.constant("result" as const),
        pick: fc.nat(20),
        content: contents(),
        name: optional(names()),
      }),
    },
  );
}

/**
 * Histories that `validateHistory` accepts: ids used again, parallel results in any order, results that are missing,
 * doubled or late, null and empty contents, names that are there or not, a system message in front.
 */
export function agentMessages(): fc.Arbitrary<AgentMessage[]> {
  return fc.tuple(fc.boolean(), fc.array(steps(), { maxLength: 12 })).map(([system, all]) => {
    const messages: AgentMessage[] = system ? [{ role: "system", content: "Be brief." }] : [];
    const seen: AgentToolCall[] = [];
    for (const step of all) {
      if (step.kind === "user") messages.push(compact({ role: "user", content: step.content, name: step.name }));
      else if (step.kind === "result") {
        const call = seen[step.pick % Math.max(seen.length, 1)];
        if (call) messages.push(compact({ role: "tool", content: step.content, tool_call_id: call.id, name: step.name }));
      } else messages.push(...assistantTurn(step, seen));
    }
    return messages;
  });
}

function assistantTurn(step: Extract<Step, { kind: "assistant" }>, seen: AgentToolCall[]): AgentMessage[] {
  const calls = step.calls.map(
    (call): AgentToolCall => ({ id: call.id, type: "function", function: { name: call.name, arguments: call.arguments } }),
  );
  seen.push(...calls);
  const turn = compact({
    role: "assistant" as const,
    content: step.content,
    tool_calls: calls.length > 0 || step.emptyCalls ? calls : undefined,
    name: step.name,
  });
  const results = step.answers.flatMap(({ pick, content, named }): AgentMessage[] => {
    const call = calls[pick % Math.max(calls.length, 1)];
    if (!call) return [];
    return [compact({ role: "tool", content, tool_call_id: call.id, name: named ? call.function.name : undefined })];
  });
  return [turn, ...results];
}

/** Histories that need no repair: each turn's calls are answered right behind it, each exactly once. */
export function cleanMessages(): fc.Arbitrary<AgentMessage[]> {
  const words = fc.string({ minLength: 1, maxLength: 8 });
  const turn = fc.record({
    user: words,
    text: fc.option(words),
    ids: fc.uniqueArray(fc.constantFrom("a", "b", "c"), { maxLength: 3 }),
    results: words,
    reverse: fc.boolean(),
    last: words,
  });
  return fc.tuple(fc.boolean(), fc.array(turn, { maxLength: 5 })).map(([system, turns]) => [
    ...(system ? [{ role: "system" as const, content: "Be brief." }] : []),
    ...turns.flatMap(({ user, text, ids, results, reverse, last }): AgentMessage[] => {
      const calls = ids.map((id): AgentToolCall => ({ id, type: "function", function: { name: "look", arguments: '{ "a": 1 }' } }));
      const answers = ids.map((id): AgentMessage => ({ role: "tool", content: results, tool_call_id: id, name: "look" }));
      return [
        { role: "user", content: user },
        ...(calls.length > 0 ? [{ role: "assistant" as const, content: text, tool_calls: calls }] : []),
        ...(reverse ? answers.toReversed() : answers),
        { role: "assistant", content: last, name: "bot" },
      ];
    }),
  ]);
}

/** Anything but a history: near misses in every field, and values that no JSON holds. */
export function garbageMessages(): fc.Arbitrary<unknown[]> {
  const anything = fc.anything({ withBigInt: true, withDate: true, withMap: true, withSparseArray: true, withNullPrototype: true, maxDepth: 2 });
  const rarely = <T>(good: fc.Arbitrary<T>): fc.Arbitrary<unknown> =>
    fc.oneof({ weight: 6, arbitrary: good }, { weight: 1, arbitrary: anything });
  const call = fc.record(
    {
      id: rarely(callIds()),
      type: rarely(fc.constant("function")),
      function: rarely(fc.record({ name: rarely(names()), arguments: rarely(argumentTexts()), extra: fc.constant(1) }, { requiredKeys: ["name"] })),
      index: anything,
    },
    { requiredKeys: ["id", "function"] },
  );
  const message = fc.record(
    {
      role: rarely(fc.constantFrom("system", "user", "assistant", "assistant", "tool", "tool")),
      content: rarely(contents()),
      tool_calls: rarely(fc.array(rarely(call), { maxLength: 3 })),
      tool_call_id: rarely(callIds()),
      name: rarely(names()),
      extra: anything,
    },
    { requiredKeys: ["role"] },
  );
  return fc.oneof(
    fc.array(rarely(message), { maxLength: 12 }),
    fc.tuple(agentMessages(), fc.array(rarely(message), { maxLength: 4 }), fc.nat(12)).map(([history, more, at]) =>
      (history as unknown[]).toSpliced(at, 0, ...more),
    ),
  );
}

function usages(): fc.Arbitrary<Usage> {
  const tokens = fc.nat(50);
  return fc.record({
    inputTokens: tokens,
    outputTokens: tokens,
    reasoningTokens: fc.option(tokens),
    cacheReadTokens: tokens,
    cacheWriteTokens: tokens,
  });
}

function json(): fc.Arbitrary<unknown> {
  return fc.oneof(fc.constantFrom<unknown>(null, "", "done", 0, { approved: true }), fc.jsonValue({ maxDepth: 2 }));
}

function visibleBlocks(): fc.Arbitrary<MessageContent> {
  return fc.oneof(
    { weight: 4, arbitrary: texts().map((text): MessageContent => ({ type: "text", text })) },
    {
      weight: 1,
      arbitrary: fc
        .constantFrom("image" as const, "video" as const, "audio" as const, "url" as const)
        .map((type): MessageContent => ({ type, mimeType: "image/png", fileUri: "https://example.com/a.png" })),
    },
    { weight: 1, arbitrary: fc.constant<MessageContent>({ type: "file", filePath: "/a.pdf", mimeType: "application/pdf" }) },
  );
}

function assistantBlocks(): fc.Arbitrary<AssistantContent> {
  return fc.oneof(
    { weight: 3, arbitrary: visibleBlocks() },
    { weight: 1, arbitrary: texts().map((text): AssistantContent => ({ type: "reasoning", text, replay: { providerId: "p", opaqueData: [text] } })) },
    {
      weight: 2,
      arbitrary: fc.record({ callId: callIds(), name: names(), arguments: optional(json()) }).map(
        (call): AssistantContent => compact({ type: "tool_call", ...call }),
      ),
    },
  );
}

function toolResults(): fc.Arbitrary<ToolResultContent> {
  return fc.record({ callId: callIds(), name: optional(names()), output: optional(json()), isError: optional(fc.boolean()) }).map(compact);
}

function durations(): fc.Arbitrary<number | undefined> {
  return optional(fc.nat(5000));
}

function errors(): fc.Arbitrary<{ code: string; message: string }> {
  return fc.record({ code: fc.constantFrom("action_execution_failed", "result_missing"), message: texts() });
}

function input<T extends EventType>(type: T, data: fc.Arbitrary<EventInputOf<T>["data"]>): fc.Arbitrary<EventInputOf<T>> {
  return data.map((value) => ({ type, data: compact(value) }));
}

const metrics = [{ name: "groundedness", score: 0.9, threshold: 0.8, passed: true, reasoning: "Sources given.", evidence: ["[1]"] }];

function oneInput(): fc.Arbitrary<EventInput> {
  const call = { callId: callIds(), name: names() };
  const usage = optional(usages());
  const base = { usage, durationMs: durations() };
  const evaluation = { name: fc.constantFrom("response_quality", "tone"), durationMs: durations() };
  // Providers restart their ids, so delegations of different children may share one.
  const child = fc.constantFrom("ses_1", "ses_2", "ses_3");
  const delegation = fc.record({ callId: fc.constantFrom("call_0", "call_1"), agent: fc.constant("researcher"), sessionId: child });
  const outcome = fc
    .tuple(delegation, optional(fc.constantFrom("waiting_for_client_action", "paused")), usage)
    .map(([data, status, used]) => compact({ ...data, status, usage: used }));
  return fc.oneof(
    {
      weight: 4,
      arbitrary: fc.oneof(
        input("message.created", fc.record({ role: fc.constant("user" as const), content: fc.array(visibleBlocks(), { maxLength: 2 }), name: optional(texts()) })),
        input(
          "message.created",
          fc.record({
            role: fc.constant("assistant" as const),
            content: fc.array(assistantBlocks(), { maxLength: 3 }),
            status: optional(fc.constantFrom("completed" as const, "incomplete" as const)),
            parsedOutput: optional(json()),
            usage,
          }),
        ),
        input("message.created", fc.record({ role: fc.constant("tool" as const), content: fc.array(toolResults(), { maxLength: 2 }) })),
      ),
    },
    {
      weight: 6,
      arbitrary: fc.oneof(
        input("action.requested", fc.record({ ...call, arguments: optional(json()) })),
        input("action.completed", fc.record({ ...call, output: optional(json()), durationMs: durations() })),
        input("action.failed", fc.record({ ...call, error: errors(), durationMs: durations(), synthetic: optional(fc.boolean()) })),
      ),
    },
    {
      weight: 5,
      arbitrary: fc.oneof(
        input(
          "client_action.requested",
          fc.record({
            calls: fc.array(
              fc.record({ ...call, arguments: optional(json()), expiresAt: optional(fc.constant("2026-09-29T00:00:00Z")) }).map(compact),
              { minLength: 1, maxLength: 3 },
            ),
          }),
        ),
        input(
          "client_action.resolved",
          fc.record({
            results: fc.array(
              fc
                .record({
                  callId: callIds(),
                  outcome: optional(fc.constantFrom("answered" as const, "denied" as const, "expired" as const, "cancelled" as const)),
                  output: optional(json()),
                  isError: optional(fc.boolean()),
                  reason: optional(texts()),
                })
                .map(compact),
              { minLength: 1, maxLength: 3 },
            ),
          }),
        ),
      ),
    },
    {
      weight: 3,
      arbitrary: fc.oneof(
        input("subagent.initiated", delegation),
        input("subagent.resumed", delegation.map((data) => ({ ...data, callId: `resume_${data.sessionId}` }))),
        input("subagent.completed", outcome),
        input("subagent.paused", outcome),
        input("subagent.failed", outcome),
      ),
    },
    {
      weight: 2,
      arbitrary: fc.oneof(
        input("run.started", fc.constant({ agent: "supportAgent" })),
        input("run.paused", fc.record({ status: optional(fc.constantFrom("waiting_for_client_action", "paused")), ...base })),
        input("run.completed", fc.record({ output: optional(json()), ...base })),
        input("run.failed", fc.record({ error: errors(), ...base })),
        input("run.stopped", fc.record({ reason: optional(texts()), ...base })),
      ),
    },
    {
      weight: 2,
      arbitrary: fc.oneof(
        input("skill.requested", fc.record(call)),
        input("skill.loaded", fc.record({ callId: optional(callIds()), name: names(), alreadyLoaded: optional(fc.boolean()) })),
        input("skill.failed", fc.record({ callId: optional(callIds()), name: names(), error: errors() })),
        input("evaluation.requested", fc.record({ name: evaluation.name })),
        input("evaluation.completed", fc.record({ ...evaluation, status: fc.constantFrom("passed" as const, "failed" as const), metrics: fc.constantFrom([], metrics), usage })),
        input("evaluation.failed", fc.record({ ...evaluation, error: fc.record({ message: texts() }) })),
      ),
    },
  );
}

/** Times that stand still and go back. */
function timestamps(): fc.Arbitrary<string> {
  return fc.constantFrom("2026-09-28T12:00:04Z", "2026-09-28T12:00:04.120Z", "2026-09-28T12:00:09Z", "1999-12-31T23:59:59Z");
}

/**
 * Events as a caller may append them, legal and half legal: runs, actions, client actions, skills, evaluations,
 * subagents, call ids used again, results that nobody asked for.
 */
export function eventInputs(size: { maxLength?: number } = {}): fc.Arbitrary<EventInput[]> {
  const one = fc
    .tuple(oneInput(), optional(timestamps()), optional(fc.integer({ min: 1, max: 3 })))
    .map(([event, timestamp, run]): EventInput => compact({ ...event, timestamp, run }));
  return fc.array(one, { maxLength: size.maxLength ?? 30 });
}

function sessionInputs(): fc.Arbitrary<EventInputOf<"session.updated" | "session.paused" | "session.resumed">> {
  const data = fc.record({
    name: fc.constantFrom(undefined, null, "Order 4"),
    metadata: optional(fc.dictionary(fc.constantFrom("a", "b", "__proto__"), fc.constantFrom<string | number | null>("x", 1, null))),
    unset: optional(fc.constant(["a"] as string[])),
  });
  return fc.oneof(
    input("session.updated", data),
    input("session.paused", fc.constant({ status: "paused" as const })),
    input("session.resumed", fc.constant({ status: "active" as const })),
  ) as fc.Arbitrary<EventInputOf<"session.updated" | "session.paused" | "session.resumed">>;
}

/** What a server says of its own work, which no caller may append. */
function serverInputs(): fc.Arbitrary<LooseInput> {
  const asked = { name: fc.constantFrom("response_quality", "tone"), expiresAt: fc.constant("2026-09-28T12:05:00.000Z"), attempt: fc.integer({ min: 1, max: 3 }) };
  return fc.oneof(
    input("run.started", fc.record({ host: fc.constant("server" as const), fence: fc.integer({ min: 1, max: 3 }) })),
    input("evaluation.requested", fc.record(asked)),
  );
}

/** Whole logs as a store holds them: `session.created`, then anything, sequences 1…n, times in any order. */
export function eventLogs(size: { maxLength?: number } = {}): fc.Arbitrary<SessionEvent[]> {
  const piece = fc.oneof(
    { weight: 5, arbitrary: eventInputs({ maxLength: 8 }) },
    { weight: 1, arbitrary: sessionInputs().map((event): LooseInput[] => [event]) },
    { weight: 1, arbitrary: serverInputs().map((event): LooseInput[] => [event]) },
  );
  const ending = optional(input("session.completed", fc.record({ status: fc.constantFrom("completed" as const, "failed" as const) })));
  return fc
    .tuple(fc.array(piece, { maxLength: 5 }), ending)
    .map(([pieces, end]) => logOf([...pieces.flat().slice(0, size.maxLength ?? 40), ...(end ? [end] : [])]));
}

type LooseInput = Pick<SessionEvent, "type" | "data"> & { timestamp?: string; run?: number };

/** Numbers events as a store would, behind the `session.created` that opens the log. */
export function logOf(inputs: readonly LooseInput[]): SessionEvent[] {
  const created: LooseInput = {
    type: "session.created",
    data: { schemaVersion: 1, sessionId: "ses_test", agent: "supportAgent", status: "active", metadata: {}, variables: {} },
  };
  return [created, ...inputs].map(({ type, data, timestamp, run }, index) =>
    compact({ sequence: index + 1, v: eventVersion, type, timestamp: timestamp ?? "2026-09-28T12:00:00.000Z", run, data }),
  ) as SessionEvent[];
}
