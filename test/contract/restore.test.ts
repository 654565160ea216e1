import {
  checkHistory,
  HistoryError,
  validateContinuation,
  validateHistory,
  type AgentMessage,
  type Finding,
} from "@orcha/contract";
import * as fc from "fast-check";
import { describe, expect, it, test, vi } from "vitest";
import { cpuTime } from "../cpu-time.ts";
import { agentMessages } from "../arbitraries.ts";
import { readCase, readStep } from "./corpus.ts";
import { deepFreeze } from "./freeze.ts";

function call(id: string, name = "look", text = "{}") {
  return { id, type: "function", function: { name, arguments: text } };
}

function refusal(messages: unknown): HistoryError {
  try {
    validateHistory(messages);
  } catch (error) {
    if (error instanceof HistoryError) return error;
    throw error;
  }
  throw new Error("the history was accepted");
}

const user = { role: "user", content: "hi" };

function turn(...calls: unknown[]) {
  return { role: "assistant", content: null, tool_calls: calls };
}

describe("the seed's phrases are the whole message", () => {
  const notArrays: unknown[] = [undefined, null, "[]", 5, {}, { length: 0 }, () => [], new Set()];
  test.each(notArrays)("not an array: %s", (value) => {
    expect(refusal(value)).toMatchObject({ message: "expected an array of messages", code: "not_an_array", index: 0 });
  });

  test.each([null, undefined, "user", 5, true, [], [user], 5n, Symbol("m"), () => user])("not an object: %s", (value) => {
    expect(refusal([user, value])).toMatchObject({ message: "message at index 1 is not an object", code: "message_not_object", index: 1 });
  });

  it("counts the holes of a sparse array", () => {
    const sparse: unknown[] = [user];
    sparse[3] = user;
    expect(refusal(sparse).message).toBe("message at index 1 is not an object");
  });

  test.each<[unknown, string]>([
    ["developer", "developer"],
    ["User", "User"],
    [" user", " user"],
    ["", ""],
    [undefined, "undefined"],
    [null, "null"],
    [0, "0"],
    [["user"], "array"],
    [{ role: "user" }, "object"],
    [5n, "5"],
    [Symbol("user"), "Symbol(user)"],
    [Object.create(null), "object"],
  ])("unknown role %#", (role, printed) => {
    expect(refusal([{ role, content: "x" }])).toMatchObject({
      message: `message at index 0 has unknown role "${printed}"`,
      code: "unknown_role",
      index: 0,
    });
  });

  it("refuses a system message anywhere but in front, and counts the stripped one", () => {
    const system = { role: "system", content: "Be brief." };
    expect(refusal([system, system]).message).toBe("unexpected system message at index 1");
    expect(refusal([user, system])).toMatchObject({ code: "unexpected_system_message", index: 1 });
    expect(refusal([system, user, null]).message).toBe("message at index 2 is not an object");
    expect(validateHistory([system, user]).messages).toEqual([user]);
  });

  test.each<[unknown, string]>([
    [undefined, "undefined"],
    [null, "null"],
    ["", ""],
    ["call_9", "call_9"],
    [0, "0"],
    [{ id: "call_1" }, "object"],
  ])("orphaned tool_call_id %#", (id, printed) => {
    expect(refusal([turn(call("call_1")), { role: "tool", content: "x", tool_call_id: id }])).toMatchObject({
      message: `orphaned tool_call_id "${printed}"`,
      code: "orphaned_tool_call_id",
      index: 1,
    });
  });

  it("takes no blank id, not even of a call that has one", () => {
    expect(refusal([turn(call("")), { role: "tool", content: "x", tool_call_id: "" }])).toMatchObject({ message: 'orphaned tool_call_id ""', index: 1 });
  });

  it("wants the call before its result", () => {
    expect(refusal([{ role: "tool", content: "x", tool_call_id: "c" }, turn(call("c"))]).message).toBe('orphaned tool_call_id "c"');
  });
});

describe("order", () => {
  it("reports the first fault by index", () => {
    expect(refusal([user, { role: "x" }, null]).message).toBe('message at index 1 has unknown role "x"');
    expect(refusal([user, null, { role: "x" }]).message).toBe("message at index 1 is not an object");
  });

  it("looks for the seed's faults in all messages before its own", () => {
    expect(refusal([{ role: "user", content: 5 }, null]).message).toBe("message at index 1 is not an object");
    expect(refusal([{ role: "user", content: 5n }, { role: "tool" }]).message).toBe('orphaned tool_call_id "undefined"');
  });

  it("says the phrase of the message before that of its calls", () => {
    expect(refusal([{ role: "human", content: 5, tool_calls: "no" }]).message).toBe('message at index 0 has unknown role "human"');
  });
});

describe("own checks", () => {
  const cyclic: Record<string, unknown> = { role: "user", content: "x" };
  cyclic["self"] = cyclic;
  test.each<[string, unknown, string]>([
    ["content_invalid", { role: "user" }, "[1].content"],
    ["content_invalid", { role: "assistant", content: 5 }, "[1].content"],
    ["content_invalid", { role: "user", content: [{ type: "text", text: "x" }] }, "[1].content"],
    ["name_invalid", { role: "user", content: "x", name: 5 }, "[1].name"],
    ["name_invalid", { role: "user", content: "x", name: null }, "[1].name"],
    ["tool_calls_invalid", { role: "assistant", content: null, tool_calls: null }, "[1].tool_calls"],
    ["tool_calls_invalid", { role: "assistant", content: null, tool_calls: {} }, "[1].tool_calls"],
    ["tool_calls_invalid", { role: "user", content: "x", tool_calls: [call("c")] }, "[1].tool_calls"],
    ["tool_calls_invalid", turn(call("c"), null), "[1].tool_calls[1]"],
    ["tool_calls_invalid", turn({ ...call("c"), id: "" }), "[1].tool_calls[0].id"],
    ["tool_calls_invalid", turn({ ...call("c"), id: 5 }), "[1].tool_calls[0].id"],
    ["tool_calls_invalid", turn(call("c".repeat(513))), "[1].tool_calls[0].id"],
    ["tool_calls_invalid", turn({ ...call("c"), type: "custom" }), "[1].tool_calls[0].type"],
    ["tool_calls_invalid", turn({ ...call("c"), function: undefined }), "[1].tool_calls[0].function"],
    ["tool_calls_invalid", turn(call("c", "")), "[1].tool_calls[0].function"],
    ["tool_calls_invalid", turn(call("c", "n".repeat(201))), "[1].tool_calls[0].function"],
    ["arguments_not_string", turn({ ...call("c"), function: { name: "look", arguments: {} } }), "[1].tool_calls[0].function.arguments"],
    ["arguments_not_string", turn({ ...call("c"), function: { name: "look" } }), "[1].tool_calls[0].function.arguments"],
    ["value_not_json", { role: "user", content: 5n }, "[1].content"],
    ["value_not_json", { role: "user", content: "x", extra: [{ at: new Date(0) }] }, "[1].extra[0].at"],
    ["value_not_json", { role: "user", content: "x", score: Number.NaN }, "[1].score"],
    ["value_not_json", { role: "user", content: "x", toJSON: () => "y" }, "[1].toJSON"],
    ["value_not_json", cyclic, "[1].self"],
  ])("%s: %#", (code, message, path) => {
    const error = refusal([user, message]);
    expect(error).toMatchObject({ code, index: 1, finding: { severity: "error", path } });
    expect(checkHistory([user, message]).map((finding) => [finding.code, finding.path])).toContainEqual([code, path]);
  });

  it("checks the fields of a class instance like any other's", () => {
    class Message {
      readonly role = "user";
      readonly content: unknown;
      constructor(content: unknown) {
        this.content = content;
      }
    }
    expect(validateHistory([new Message("hi")]).messages).toEqual([user]);
    expect(refusal([new Message(5n)])).toMatchObject({ code: "value_not_json", index: 0 });
    expect(refusal([new Message({})]).code).toBe("content_invalid");
  });

  it("lists every fault, not only the first", () => {
    const codes = checkHistory([null, { role: "x", content: 5 }, { role: "user", content: 5, name: 5 }]).map(({ code }) => code);
    expect(codes).toEqual(["message_not_object", "unknown_role", "content_invalid", "content_invalid", "name_invalid"]);
  });
});

describe("what is let in", () => {
  it("takes an empty array", () => {
    expect(validateHistory([])).toEqual({ messages: [], findings: [] });
  });

  it("keeps the fields of AgentMessage and no other", () => {
    const messages = [
      { role: "user", content: "x", name: "ann", id: 4, tool_call_id: "c" },
      { role: "assistant", content: null, tool_calls: [{ ...call("c"), index: 0, function: { name: "look", arguments: "{}", strict: true } }] },
      { role: "tool", content: null, tool_call_id: "c", name: "look", is_error: true },
    ];
    const checked = validateHistory(messages);
    expect(checked.messages).toStrictEqual([
      { role: "user", content: "x", name: "ann" },
      { role: "assistant", content: null, tool_calls: [call("c")] },
      { role: "tool", content: null, tool_call_id: "c", name: "look" },
    ]);
    expect(checked.findings).toMatchObject([
      { severity: "info", code: "field_ignored", index: 0, path: "[0].id" },
      { severity: "info", code: "field_ignored", index: 2, path: "[2].is_error" },
    ]);
  });

  it("copies deeply, in and out", () => {
    const made = call("c");
    const given = [{ role: "assistant", content: "x", tool_calls: [made] }];
    const { messages } = validateHistory(given);
    const before = structuredClone(messages);
    made.function.name = "changed";
    given[0]?.tool_calls.push(call("d"));
    expect(messages).toEqual(before);
    for (const copy of messages[0]?.tool_calls ?? []) copy.id = "changed";
    expect(made.id).toBe("c");
  });

  it("never writes to what it is given", () => {
    fc.assert(
      fc.property(agentMessages(), (messages) => {
        const before = structuredClone(messages);
        expect(() => validateHistory(deepFreeze(messages))).not.toThrow();
        expect(messages).toEqual(before);
      }),
      { numRuns: 200 },
    );
  });

  it("accepts its own answer as it is", () => {
    fc.assert(
      fc.property(agentMessages(), (messages) => {
        const once = validateHistory(messages).messages;
        expect(validateHistory(once).messages).toEqual(once);
      }),
      { numRuns: 200 },
    );
  });

  test.each<[string, unknown[], Partial<Finding>]>([
    ["system", [{ role: "system", content: "x" }], { severity: "info", code: "system_message_stripped", index: 0 }],
    ["empty tool_calls", [{ role: "assistant", content: "x", tool_calls: [] }], { code: "empty_tool_calls", path: "[0].tool_calls" }],
    ["empty turn", [{ role: "assistant", content: "" }], { code: "empty_assistant_turn", index: 0 }],
    ["half a character", [{ role: "user", content: "a\ud800" }], { code: "lone_surrogate", path: "[0].content" }],
    ["no result", [{ role: "assistant", content: "x", tool_calls: [call("c"), call("d")] }, { role: "tool", content: "", tool_call_id: "d", name: "look" }], { code: "tool_result_missing", index: 0 }],
  ])("warns of %s", (_title, messages, finding) => {
    const { findings } = validateHistory(messages);
    expect(findings).toHaveLength(1);
    expect(findings).toMatchObject([finding]);
    expect(checkHistory(messages)).toEqual(findings);
  });

  it("gives a result to the nearest waiting call of its id, and names it after that call", () => {
    const result = { role: "tool", content: "x", tool_call_id: "c" };
    const both = turn(call("c", "one"), call("c", "two"));
    const { messages, findings } = validateHistory([both, result, { ...result, name: "" }, result]);
    expect(messages.slice(1).map(({ name }) => name)).toEqual(["two", "one", "two"]);
    expect(findings.map(({ code }) => code)).toEqual([
      "tool_call_id_reused",
      "tool_name_backfilled",
      "tool_name_backfilled",
      "duplicate_tool_result",
      "tool_name_backfilled",
    ]);
  });

  it("gives a late result to the newest call of its id: an earlier one was let go of", () => {
    const result = { role: "tool", content: "x", tool_call_id: "c" };
    const { messages, findings } = validateHistory([turn(call("c", "one")), turn(call("c", "two")), turn(), result, result]);
    expect(messages.slice(3).map(({ name }) => name)).toEqual(["two", "two"]);
    expect(findings.map(({ code }) => code)).toEqual([
      "tool_result_missing",
      "tool_call_id_reused",
      "tool_result_missing",
      "empty_tool_calls",
      "empty_assistant_turn",
      "tool_name_backfilled",
      "duplicate_tool_result",
      "tool_name_backfilled",
    ]);
  });

  it("goes through 20,000 calls of one id in a moment", () => {
    const messages: AgentMessage[] = [];
    for (let index = 0; index < 20_000; index += 1) {
      messages.push({ role: "assistant", content: null, tool_calls: [{ id: "c", type: "function", function: { name: "look", arguments: "{}" } }] });
    }
    for (let index = 0; index < 20_000; index += 1) messages.push({ role: "tool", content: "x", tool_call_id: "c", name: "look" });
    const start = cpuTime();
    expect(validateHistory(messages).messages).toHaveLength(40_000);
    expect(cpuTime() - start).toBeLessThan(10_000);
  });
});

describe("a continuation", () => {
  const known = new Map([["c", [{ name: "look", state: "waiting" as const }]]]);

  it("may answer the calls of its conversation", () => {
    const { messages, findings } = validateContinuation([{ role: "tool", content: "x", tool_call_id: "c" }], known);
    expect(messages).toEqual([{ role: "tool", content: "x", tool_call_id: "c", name: "look" }]);
    expect(findings.map(({ code }) => code)).toEqual(["tool_name_backfilled"]);
  });

  it("says where a call has its result already", () => {
    const answered = new Map([["c", [{ name: "look", state: "answered" as const }]]]);
    const { findings } = validateContinuation([{ role: "tool", content: "x", tool_call_id: "c", name: "look" }], answered);
    expect(findings.map(({ code }) => code)).toEqual(["duplicate_tool_result"]);
  });

  it("refuses a system message at any index", () => {
    expect(() => validateContinuation([{ role: "system", content: "x" }], known)).toThrow(/^unexpected system message at index 0$/);
  });

  it("leaves what it was told about the calls as it was", () => {
    validateContinuation([{ role: "tool", content: "x", tool_call_id: "c" }], known);
    expect(known.get("c")).toEqual([{ name: "look", state: "waiting" }]);
  });
});

test.each([
  ['{"id":9007199254740993}', true],
  ['{ "ids": [1, -12345678901234567890] }', true],
  ['{"id":9007199254740993,"id_str":"9007199254740993"}', true],
  ['{"id":9007199254740994}', false],
  ['{"id":"9007199254740993"}', false],
  ['{"at":1700000000000000,"by":10000000000000000}', false],
  ['{"f":0.1234567890123456789,"g":1.50000000000000000}', false],
])("arguments that JavaScript can't keep digit by digit are found: %s", (text, isFound) => {
  const call = { id: "c", type: "function", function: { name: "look", arguments: text } };
  const codes = checkHistory([{ role: "assistant", content: null, tool_calls: [call] }]).map(({ code }) => code);
  expect(codes.includes("arguments_not_exact")).toBe(isFound);
});

describe("cases from the field", () => {
  const cases = [
    ...["001", "002", "003", "004", "007", "008", "009"].map((id) => ({ id, ...readCase(id) })),
    ...["a", "b", "c", "d", "e", "i"].map((step) => ({ id: "010", ...readStep("010", step) })),
    ...["b", "c", "d"].map((step) => ({ id: "012", ...readStep("012", step) })),
  ];
  const rejected = cases.filter((each) => each.expect.import === "rejected");
  const accepted = cases.filter((each) => each.expect.import === "accepted");

  it("is either rejected or accepted", () => {
    expect([rejected.length, accepted.length]).toEqual([9, 7]);
  });

  test.each(rejected)("$id $title", ({ input, expect: { error, index } }) => {
    expect(refusal(input)).toMatchObject({ message: error, index });
  });

  test.each(accepted)("$id $title", ({ input, expect: wanted }) => {
    const { messages, findings } = validateHistory(input);
    const codes = findings.map(({ code }) => code);
    expect(messages.length).toBeOneOf(wanted.messages_in ?? [wanted.messages]);
    expect(messages.map(({ role }) => role)).toEqual(wanted.roles ?? rolesIn(input));
    expect(codes).toEqual(expect.arrayContaining(wanted.warnings ?? []));
    expect(findings.map(({ index }) => index)).toEqual(expect.arrayContaining(wanted.warning_indexes ?? []));
    const warned = findings.filter(({ code }) => wanted.warnings?.includes(code)).map(({ message }) => message);
    for (const id of wanted.warning_refs ?? []) expect(warned).toContainEqual(expect.stringContaining(`"${id}"`));
    for (const [path, value] of Object.entries(wanted.normalized ?? {})) {
      const [index = "", field = ""] = path.split(".");
      expect(messages[Number(index)]?.[field as keyof AgentMessage]).toEqual(value);
    }
    const verbatim = wanted.stored_arguments_verbatim;
    expect(argumentsIn(messages)).toEqual(verbatim === undefined ? argumentsIn(input as AgentMessage[]) : [verbatim]);
  });
});

function rolesIn(input: unknown): string[] {
  return (input as AgentMessage[]).map(({ role }) => role);
}

function argumentsIn(messages: readonly AgentMessage[]): string[] {
  return messages.flatMap((message) => message.tool_calls ?? []).map((made) => made.function.arguments);
}

test("a long value is quoted in part also where a phone's strings lack toWellFormed", () => {
  vi.spyOn(String.prototype, "toWellFormed").mockImplementation(() => {
    throw new TypeError("toWellFormed is not a function");
  });
  const role = `${"x".repeat(198)}👍${"x".repeat(100)}`;
  expect(() => validateHistory([{ role, content: "Hi" }])).toThrow(`message at index 0 has unknown role "${"x".repeat(198)}…"`);
});
