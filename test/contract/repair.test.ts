import { checkHistory, HistoryError, repairHistory, validateHistory, type AgentMessage, type RepairPolicy } from "@orcha/contract";
import * as fc from "fast-check";
import { describe, expect, it, test } from "vitest";
import { cpuTime } from "../cpu-time.ts";
import { agentMessages, cleanMessages, garbageMessages } from "../arbitraries.ts";
import { readCase, readStep } from "./corpus.ts";
import { deepFreeze } from "./freeze.ts";

function turn(ids: string[], content: string | null = null): AgentMessage {
  return { role: "assistant", content, tool_calls: ids.map((id) => ({ id, type: "function", function: { name: `do_${id}`, arguments: "{}" } })) };
}

function result(id: string, content: string | null = "done"): AgentMessage {
  return { role: "tool", content, tool_call_id: id, name: `do_${id}` };
}

const user: AgentMessage = { role: "user", content: "hi" };
const missing = { role: "tool", content: '{"error":"result_missing","message":"the conversation went on without a result"}' };

function policies(): fc.Arbitrary<RepairPolicy> {
  return fc.record(
    {
      missingResults: fc.constantFrom("answer", "drop_call", "keep"),
      duplicateResults: fc.constantFrom("first", "last"),
      displacedResults: fc.constantFrom("move", "keep"),
      emptyTurns: fc.constantFrom("drop", "keep"),
      invalidArguments: fc.constantFrom("empty", "keep"),
    },
    { requiredKeys: [] },
  );
}

describe("whatever the array holds", () => {
  it("comes out as a history that validateHistory accepts as it is", () => {
    fc.assert(
      fc.property(garbageMessages(), policies(), (garbage, policy) => {
        const { messages } = repairHistory(garbage, policy);
        const checked = validateHistory(messages);
        expect(checked.messages).toEqual(messages.filter(({ role }) => role !== "system"));
        expect(checked.findings.filter(({ severity }) => severity === "error")).toEqual([]);
      }),
      { numRuns: 300 },
    );
  });

  it("takes arrays of anything at all", () => {
    const anything = fc.array(fc.anything({ withBigInt: true, withDate: true, withMap: true, withSet: true, withTypedArray: true, withSparseArray: true, withNullPrototype: true, withObjectString: true }));
    fc.assert(
      fc.property(anything, (garbage) => {
        const { messages, report } = repairHistory(garbage);
        expect(validateHistory(messages).messages).toEqual(messages);
        expect(report.length).toBeGreaterThanOrEqual(garbage.length - messages.length);
      }),
      { numRuns: 200 },
    );
  });

  it("is in order for a provider, and clean but for ids used again and for long numbers", () => {
    const left = ["tool_call_id_reused", "arguments_not_exact", "system_message_stripped"];
    fc.assert(
      fc.property(garbageMessages(), (garbage) => {
        const { messages } = repairHistory(garbage);
        const found = checkHistory(messages).map(({ code }) => code);
        expect(found.filter((code) => !left.includes(code))).toEqual([]);
        expectProviderOrder(messages);
      }),
      { numRuns: 300 },
    );
  });

  it("needs no second repair", () => {
    fc.assert(
      fc.property(garbageMessages(), policies(), (garbage, policy) => {
        const once = repairHistory(garbage, policy).messages;
        expect(repairHistory(once, policy)).toEqual({ messages: once, report: [] });
      }),
      { numRuns: 300 },
    );
  });

  it("is not written to", () => {
    fc.assert(
      fc.property(agentMessages(), policies(), (messages, policy) => {
        const before = structuredClone(messages);
        const { messages: repaired } = repairHistory(deepFreeze(messages), policy);
        for (const message of repaired) {
          message.content = "changed";
          message.tool_calls?.splice(0);
        }
        expect(messages).toEqual(before);
      }),
      { numRuns: 200 },
    );
  });

  it("changes only what the report tells", () => {
    fc.assert(
      fc.property(fc.oneof(agentMessages(), garbageMessages()), policies(), (given, policy) => {
        const { messages, report } = repairHistory(given, policy);
        expect(equals(messages, given)).toBe(report.length === 0);
        for (const finding of report) {
          expect(finding.fix).toBeTruthy();
          expect(finding.path).toMatch(new RegExp(`^\\[${finding.index}\\]`));
        }
      }),
      { numRuns: 300 },
    );
  });

  it("stays as it is where nothing is wrong", () => {
    fc.assert(
      fc.property(cleanMessages(), policies(), (messages, policy) => {
        expect(repairHistory(messages, policy)).toEqual({ messages, report: [] });
      }),
      { numRuns: 200 },
    );
  });
});

test.each([undefined, null, "[]", {}])("throws where the value is not an array: %s", (value) => {
  expect(() => repairHistory(value)).toThrow(HistoryError);
  expect(() => repairHistory(value)).toThrow(/^expected an array of messages$/);
});

interface Row {
  title: string;
  given: unknown[];
  policy?: RepairPolicy;
  repaired: unknown[];
  codes: string[];
}

const rows: Row[] = [
  { title: "drops a result without a call", given: [result("a"), user], repaired: [user], codes: ["orphaned_tool_call_id"] },
  { title: "drops a result ahead of its call", given: [user, result("a"), turn(["a"])], policy: { missingResults: "drop_call" }, repaired: [user], codes: ["orphaned_tool_call_id", "tool_result_missing", "empty_assistant_turn"] },
  { title: "answers a call without a result", given: [turn(["a", "b"]), result("b"), user], repaired: [turn(["a", "b"]), result("b"), { ...missing, tool_call_id: "a", name: "do_a" }, user], codes: ["tool_result_missing"] },
  { title: "drops a call without a result", given: [turn(["a", "b"]), result("b"), user], policy: { missingResults: "drop_call" }, repaired: [turn(["b"]), result("b"), user], codes: ["tool_result_missing"] },
  { title: "drops the turn that has only such calls", given: [user, turn(["a"]), user], policy: { missingResults: "drop_call" }, repaired: [user, user], codes: ["tool_result_missing", "empty_assistant_turn"] },
  { title: "keeps the text of a turn whose calls go", given: [turn(["a"], "Let me see.")], policy: { missingResults: "drop_call" }, repaired: [{ role: "assistant", content: "Let me see." }], codes: ["tool_result_missing"] },
  { title: "keeps a call without a result", given: [turn(["a"]), user], policy: { missingResults: "keep" }, repaired: [turn(["a"]), user], codes: [] },
  { title: "keeps the first of two results", given: [turn(["a"]), result("a", "1"), result("a", "2")], repaired: [turn(["a"]), result("a", "1")], codes: ["duplicate_tool_result"] },
  { title: "keeps the last of two results", given: [turn(["a"]), result("a", "1"), result("a", "2")], policy: { duplicateResults: "last" }, repaired: [turn(["a"]), result("a", "2")], codes: ["duplicate_tool_result"] },
  { title: "moves a late result", given: [turn(["a"]), user, result("a")], repaired: [turn(["a"]), result("a"), user], codes: ["displaced_tool_result"] },
  { title: "leaves a late result", given: [turn(["a"]), user, result("a")], policy: { displacedResults: "keep" }, repaired: [turn(["a"]), user, result("a")], codes: [] },
  { title: "moves a late last result, dropping the first", given: [turn(["a"]), result("a", "1"), user, result("a", "2")], policy: { duplicateResults: "last" }, repaired: [turn(["a"]), result("a", "2"), user], codes: ["duplicate_tool_result", "displaced_tool_result"] },
  { title: "pairs ids used again by the nearest open call", given: [turn(["a"]), turn(["a"]), result("a", "2"), result("a", "1")], repaired: [turn(["a"]), result("a", "1"), turn(["a"]), result("a", "2")], codes: ["displaced_tool_result"] },
  { title: "leaves parallel results in their order", given: [turn(["a", "b"]), result("b"), result("a"), user], repaired: [turn(["a", "b"]), result("b"), result("a"), user], codes: [] },
  { title: "drops an empty turn", given: [user, { role: "assistant", content: "" }, { role: "assistant", content: null }], repaired: [user], codes: ["empty_assistant_turn", "empty_assistant_turn"] },
  { title: "keeps an empty turn", given: [user, { role: "assistant", content: null }], policy: { emptyTurns: "keep" }, repaired: [user, { role: "assistant", content: null }], codes: [] },
  { title: "keeps the system message in front and drops the others", given: [{ role: "system", content: "1" }, { role: "system", content: "2" }, user, { role: "system", content: "3" }], repaired: [{ role: "system", content: "1" }, user], codes: ["unexpected_system_message", "unexpected_system_message"] },
  { title: "keeps a system message that comes to stand in front", given: [null, { role: "system", content: "1" }, user], repaired: [{ role: "system", content: "1" }, user], codes: ["message_not_object"] },
  { title: "reports in the order of the messages", given: [user, { role: "system", content: "1" }, null], repaired: [user], codes: ["unexpected_system_message", "message_not_object"] },
  { title: "gives a doubled result to the newest call of its id", given: [turn(["a"]), result("a", "1"), turn(["a"]), result("a", "2"), result("a", "3")], policy: { duplicateResults: "last" }, repaired: [turn(["a"]), result("a", "1"), turn(["a"]), result("a", "3")], codes: ["duplicate_tool_result"] },
  { title: "takes a field that is undefined for none", given: [{ ...user, name: undefined, extra: undefined }], repaired: [user], codes: [] },
  { title: "drops unknown roles and what is no object", given: [{ role: "human", content: "x" }, null, user], repaired: [user], codes: ["unknown_role", "message_not_object"] },
  { title: "drops a message that JSON can't carry", given: [{ role: "user", content: 5n }, user], repaired: [user], codes: ["value_not_json"] },
  { title: "only leaves out a further field that JSON can't carry", given: [{ ...user, at: new Date(0) }], repaired: [user], codes: ["field_ignored"] },
  { title: "joins the text of content parts", given: [{ role: "user", content: [{ type: "text", text: "a" }, "b"] }], repaired: [{ role: "user", content: "ab" }], codes: ["content_invalid"] },
  { title: "writes other content as JSON", given: [{ role: "user", content: { a: 1 } }, { role: "user", content: 5 }], repaired: [{ role: "user", content: '{"a":1}' }, { role: "user", content: "5" }], codes: ["content_invalid", "content_invalid"] },
  { title: "gives a result and a user turn without content an empty one", given: [{ role: "user" }, turn(["a"]), result("a", null)], repaired: [{ role: "user", content: "" }, turn(["a"]), result("a", "")], codes: ["content_invalid", "content_invalid"] },
  { title: "puts U+FFFD for half a character", given: [{ role: "user", content: "a\ud800", name: "\udc00" }], repaired: [{ role: "user", content: "a\ufffd", name: "\ufffd" }], codes: ["lone_surrogate", "lone_surrogate"] },
  { title: "keeps the pair of an id with half a character", given: [turn(["a\ud800"]), result("a\ud800")], repaired: [turn(["a\ufffd"]), result("a\ufffd")], codes: ["lone_surrogate", "lone_surrogate", "lone_surrogate", "lone_surrogate"] },
  { title: "names a result after its call", given: [turn(["a"]), { role: "tool", content: "x", tool_call_id: "a", name: "" }], repaired: [turn(["a"]), result("a", "x")], codes: ["tool_name_backfilled"] },
  { title: "leaves out names that are no text", given: [{ ...user, name: 5 }, { ...user, name: "" }], repaired: [user, user], codes: ["name_invalid", "name_invalid"] },
  { title: "leaves out tool_calls that are none", given: [{ role: "assistant", content: "x", tool_calls: null }, { role: "assistant", content: "x", tool_calls: [] }, { ...user, tool_calls: [] }], repaired: [{ role: "assistant", content: "x" }, { role: "assistant", content: "x" }, user], codes: ["tool_calls_invalid", "empty_tool_calls", "field_ignored"] },
  { title: "drops broken calls, and their results with them", given: [{ role: "assistant", content: null, tool_calls: [null, { id: "" }, { id: "b" }, turn(["a"]).tool_calls?.[0]] }, result("b"), result("a")], repaired: [turn(["a"]), result("a")], codes: ["tool_calls_invalid", "tool_calls_invalid", "tool_calls_invalid", "orphaned_tool_call_id"] },
  { title: "fills in the type of a call", given: [{ role: "assistant", content: null, tool_calls: [{ id: "a", function: { name: "do_a", arguments: "{}" }, index: 0 }] }, result("a")], repaired: [turn(["a"]), result("a")], codes: ["tool_calls_invalid", "field_ignored"] },
];

test.each(rows)("$title", ({ given, policy, repaired, codes }) => {
  const { messages, report } = repairHistory(given, policy);
  expect(messages).toEqual(repaired);
  expect(report.map(({ code }) => code)).toEqual(codes);
});

function repairArguments(given: unknown, policy?: RepairPolicy) {
  const call = { id: "a", type: "function", function: { name: "do_a", arguments: given } };
  const { messages, report } = repairHistory([{ role: "assistant", content: null, tool_calls: [call] }, result("a")], policy);
  return { text: messages[0]?.tool_calls?.[0]?.function.arguments, report };
}

describe("arguments", () => {
  test.each(['{"id":9007199254740993}', '{ "a" : 1 }', '{"a":1,"a":2}', "{}"])("stay exact: %s", (text) => {
    expect(repairArguments(text)).toEqual({ text, report: [] });
  });

  test.each(['{"command":"ls -la /srv/da', '{"a":1}{"a":1}', "[1]", "null", "5"])("that are no object become {}, and the report keeps them: %s", (given) => {
    const { text, report } = repairArguments(given);
    expect(text).toBe("{}");
    expect(report).toMatchObject([{ code: "arguments_invalid_json", path: "[0].tool_calls[0].function.arguments" }]);
    expect(report[0]?.fix).toContain(JSON.stringify(given));
    expect(repairArguments(given, { invalidArguments: "keep" })).toEqual({ text: given, report: [] });
  });

  it("that are blank become {}", () => {
    expect(repairArguments(" ")).toMatchObject({ text: "{}", report: [{ severity: "info", code: "arguments_invalid_json" }] });
  });

  it("that are no text are written as JSON", () => {
    expect(repairArguments({ city: "Oslo" })).toMatchObject({ text: '{"city":"Oslo"}', report: [{ code: "arguments_not_string" }] });
    expect(repairArguments(undefined)).toMatchObject({ text: "{}", report: [{ code: "arguments_not_string" }] });
    expect(repairArguments(5)).toMatchObject({ text: "{}", report: [{ code: "arguments_not_string" }, { code: "arguments_invalid_json" }] });
  });
});

describe("cases from the field", () => {
  const inputs = [
    ...["001", "002", "003", "004", "007", "008", "009"].map((id) => ({ id, ...readCase(id) })),
    ...["a", "b", "c", "d", "e", "i"].map((step) => ({ id: "010", ...readStep("010", step) })),
    ...["b", "c", "d"].map((step) => ({ id: "012", ...readStep("012", step) })),
  ];
  test.each(inputs)("$id $title", ({ input, expect: { import: outcome } }) => {
    const { messages, report } = repairHistory(input);
    expect(messages.filter(({ role }) => role === "user")).toHaveLength(usersIn(input));
    expectProviderOrder(messages);
    expect(report.some(({ severity }) => severity === "error")).toBe(outcome === "rejected");
  });
});

it("goes through 20,000 calls of one id in a moment", () => {
  const calls = Array.from({ length: 20_000 }, () => turn(["a"]));
  const results = Array.from({ length: 20_000 }, () => result("a"));
  const start = cpuTime();
  expect(repairHistory([...calls, ...results]).messages).toHaveLength(40_000);
  expect(cpuTime() - start).toBeLessThan(10_000);
});

function equals(one: unknown, other: unknown): boolean {
  try {
    expect(one).toEqual(other);
    return true;
  } catch {
    return false;
  }
}

function usersIn(input: unknown): number {
  return (input as { role: string }[]).filter(({ role }) => role === "user").length;
}

/** What providers refuse: calls that the messages right behind the turn don't answer, each once, and any other result. */
function expectProviderOrder(messages: readonly AgentMessage[]): void {
  let place = 0;
  while (place < messages.length) {
    const message = messages[place];
    place += 1;
    expect(message?.role).not.toBe("tool");
    const asked = (message?.tool_calls ?? []).map(({ id }) => id);
    const answers = messages.slice(place, place + asked.length);
    expect(answers.map(({ role }) => role)).toEqual(asked.map(() => "tool"));
    expect(answers.map((answer) => answer.tool_call_id ?? "").toSorted()).toEqual(asked.toSorted());
    for (const { content, name } of answers) {
      expect(typeof content).toBe("string");
      expect(name).toBeTruthy();
    }
    for (const call of message?.tool_calls ?? []) expect(JSON.parse(call.function.arguments)).toBeTypeOf("object");
    place += asked.length;
  }
}
