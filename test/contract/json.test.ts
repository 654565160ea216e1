import { canonicalJson, copyJson, findJsonFault, formatPath, isPlainObject, maxJsonDepth } from "@orcha/contract";
import * as fc from "fast-check";
import { describe, expect, it, test } from "vitest";
import { cpuTime } from "../cpu-time.ts";

function nested(depth: number): unknown {
  let value: unknown = {};
  for (let level = 1; level < depth; level += 1) value = level % 2 === 0 ? { a: value } : [value];
  return value;
}

class Point {
  readonly x = 1;
}

describe("findJsonFault", () => {
  const cycle: Record<string, unknown> = { list: [] };
  (cycle["list"] as unknown[]).push({ back: cycle });
  const sparse: unknown[] = [1];
  sparse[2] = 3;
  const withoutPrototypeName: unknown = Object.create(Object.create(null) as object);
  const oddConstructor: unknown = Object.assign(Object.create({ a: 1 }) as object, { constructor: null });

  test.each<[string, unknown, string, string]>([
    ["BigInt", { a: [1n] }, "a[0]", "is a bigint"],
    ["NaN", { a: Number.NaN }, "a", "is NaN"],
    ["Infinity", [Number.NEGATIVE_INFINITY], "[0]", "is -Infinity"],
    ["a cycle", cycle, "list[0].back", "refers to itself"],
    ["a Date", { "opened-at": new Date(0) }, '["opened-at"]', "is a Date"],
    ["a Map", new Map(), "", "is a Map"],
    ["a class", { p: new Point() }, "p", "is a Point"],
    ["a class without a name", withoutPrototypeName, "", "is a class"],
    ["a class with an odd constructor", { o: oddConstructor }, "o", "is a class"],
    ["a function", { toJSON: () => 1 }, "toJSON", "is a function"],
    ["a symbol", Symbol("s"), "", "is a symbol"],
    ["undefined", undefined, "", "is undefined"],
    ["undefined in an array", [undefined], "[0]", "is undefined"],
    ["a hole", sparse, "[1]", "is undefined"],
  ])("finds %s", (_title, value, path, reason) => {
    const fault = findJsonFault(value);
    expect(formatPath(fault?.path ?? ["nothing found"])).toBe(path);
    expect(fault?.reason).toMatch(new RegExp(`^${reason}`));
  });

  test.each<[string, unknown]>([
    ["scalars", [null, true, "", 0, -0, 1e308]],
    ["a property that is undefined", { a: undefined }],
    ["an object without a prototype", Object.assign(Object.create(null) as object, { a: 1 })],
    ["keys of every kind", JSON.parse('{"__proto__":1,"constructor":2,"":3}')],
    ["half a character", "\ud800"],
    ["one object in two places", ((shared) => [shared, shared, { shared }])({ a: [1] })],
  ])("lets %s pass", (_title, value) => {
    expect(findJsonFault(value)).toBeUndefined();
  });

  it("takes 64 levels and no more", () => {
    expect(maxJsonDepth).toBe(64);
    expect(findJsonFault(nested(64))).toBeUndefined();
    expect(findJsonFault(nested(65))?.reason).toBe("is nested deeper than 64 levels");
    expect(findJsonFault(nested(65))?.path).toHaveLength(64);
    expect(findJsonFault(nested(3), 2)?.path).toHaveLength(2);
  });

  it("stops at 64 levels of 100,000", () => {
    expect(findJsonFault(nested(100_000))?.path).toHaveLength(64);
  });

  it("stops where few objects hold each other many times over", () => {
    let value: unknown = "x";
    for (let level = 0; level < 60; level += 1) value = [value, value];
    const start = cpuTime();
    expect(findJsonFault(value)?.reason).toMatch(/^holds more than \d+ values$/);
    expect(cpuTime() - start).toBeLessThan(10_000);
  });

  it("finds nothing exactly where JSON gives the same back", () => {
    // Without -0, which JSON writes as 0.
    const values = [fc.boolean(), fc.integer(), fc.string(), fc.bigInt(), fc.constantFrom(Number.NaN, undefined, null)];
    const anything = fc.anything({ values, withDate: true, withMap: true, withSparseArray: true, withNullPrototype: true });
    fc.assert(
      fc.property(anything, (value) => {
        fc.pre(findJsonFault(value) === undefined);
        expect(copyJson(value)).toEqual(value);
      }),
      { numRuns: 200 },
    );
  });
});

describe("keys that look like a prototype stay data", () => {
  const text = '{"__proto__":{"x":1},"constructor":{"prototype":1}}';

  it("in a copy", () => {
    const copy = copyJson(JSON.parse(text) as object);
    expect(Object.keys(copy)).toEqual(["__proto__", "constructor"]);
    expect(Object.getPrototypeOf(copy)).toBe(Object.prototype);
    expect(JSON.stringify(copy)).toBe(text);
    expect("x" in {}).toBe(false);
  });

  it("in canonical JSON", () => {
    expect(canonicalJson(JSON.parse(text))).toBe(text);
    expect(canonicalJson(JSON.parse('{"__proto__":1}'))).toBe('{"__proto__":1}');
  });
});

describe("canonicalJson", () => {
  it("is the same for equal data, and only for that", () => {
    expect(canonicalJson({ b: [{ d: 1, c: 2 }], a: undefined })).toBe('{"b":[{"c":2,"d":1}]}');
    expect(canonicalJson([2, 1])).toBe("[2,1]");
    fc.assert(
      fc.property(fc.dictionary(fc.string(), fc.jsonValue()), (value) => {
        const reversed = Object.fromEntries(Object.entries(value).toReversed());
        expect(canonicalJson(reversed)).toBe(canonicalJson(value));
        expect(JSON.parse(canonicalJson(value))).toEqual(copyJson(value));
      }),
      { numRuns: 200 },
    );
  });
});

test.each<[(string | number)[], string]>([
  [[], ""],
  [["messages", 3, "tool_calls", 0, "id"], "messages[3].tool_calls[0].id"],
  [[2, "content"], "[2].content"],
  [["a-b", "c d", "", "0", "é"], '["a-b"]["c d"][""]["0"]["é"]'],
  [["$x", "_y", "__proto__"], "$x._y.__proto__"],
  [['"'], '["\\""]'],
])("formatPath %#", (path, text) => {
  expect(formatPath(path)).toBe(text);
});

test.each<[unknown, boolean]>([
  [{}, true],
  [Object.create(null), true],
  [[], false],
  [null, false],
  [new Point(), false],
  [new Date(0), false],
  ["x", false],
  [() => 1, false],
])("isPlainObject %#", (value, plain) => {
  expect(isPlainObject(value)).toBe(plain);
});
