import { Agent, tool, type AgentTool } from "@orcha/agent";
import { scriptedModel } from "@orcha/agent/testing";
import * as v from "valibot";
import { describe, expect, test } from "vitest";

const text = { type: "string" };

/** What a model is told of a tool, and what the tool makes of arguments. */
async function tried(given: AgentTool, values: unknown = {}): Promise<{ schema: Record<string, unknown>; result: unknown; name: string }> {
  const name = given.name;
  const model = scriptedModel([{ toolCalls: [{ name, arguments: values as Record<string, unknown> }] }, { text: "Done" }]);
  const agent = new Agent({ model, tools: [given] });
  await agent.chat("Go");
  const [offered] = model.requests[0]?.tools ?? [];
  if (offered?.type !== "function") throw new Error("no tool was offered");
  return { schema: { ...offered.inputSchema }, result: agent.getHistory()[2]?.content, name: offered.name };
}

function f(): number {
  return 1;
}

/** A function by its exact source: the compiler would write it in its own way. */
function written(source: string): AgentTool {
  // oxlint-disable-next-line no-implied-eval typescript/no-implied-eval -- what the source says is what is tried
  const made = new Function("f", `const tool = ${source}; return tool;`) as (f: unknown) => AgentTool;
  return made(f);
}

describe("plain functions", () => {
  test.each<[source: string, properties: Record<string, unknown>, required: string[], values: Record<string, unknown>, result: string]>([
    ["(city) => `in ${city}`", { city: text }, ["city"], { city: "Paris" }, "in Paris"],
    ["async function q(a, b) { return a + b; }", { a: text, b: text }, ["a", "b"], { b: "2", a: "1" }, "12"],
    ["city => (city + '!').trim()", { city: text }, ["city"], { city: "Paris" }, "Paris!"],
    ["async city => city", { city: text }, ["city"], { city: "Paris" }, "Paris"],
    ["(a, b = 5) => typeof a + b", { a: text, b: { type: "number" } }, ["a"], { a: "x" }, "string5"],
    ["(a, b = 5) => typeof a + b", { a: text, b: { type: "number" } }, ["a"], { a: "x", b: null }, "string5"],
    ["(a, b = {x: 1}) => a + b.x", { a: text, b: { type: "object", properties: { x: { type: "number" } } } }, ["a"], { a: "v", b: { x: 2 } }, "v2"],
    ["(a = f(1), b) => `${a} ${b}`", { a: text, b: text }, ["b"], { b: "y" }, "1 y"],
    ["({a, b}) => a + b", { a: text, b: text }, ["a", "b"], { a: "1", b: "2" }, "12"],
    ["({a, b = true, c: {d} = {d: 1}}) => `${a} ${b} ${d}`", { a: text, b: { type: "boolean" }, c: { type: "object", properties: { d: text }, required: [], additionalProperties: false } }, ["a"], { a: "1" }, "1 true 1"],
    ["({a, b = 5, c: {d = 1} = {}}) => a + b + d", { a: text, b: { type: "number" }, c: { type: "object", properties: { d: { type: "number" } }, required: [], additionalProperties: false } }, ["a"], { a: "x", b: null, c: { d: null } }, "x51"],
    ["({a, ...rest}) => `${a} ${rest.z}`", { a: text }, ["a"], { a: null, z: null }, "null null"],
    ["(a, {b = 1}) => a + b", { a: text, argument_2: { type: "object", properties: { b: { type: "number" } }, required: [], additionalProperties: false } }, ["a", "argument_2"], { a: "1", argument_2: { b: null } }, "11"],
    ["({a, ...rest}) => a + Object.keys(rest)", { a: text }, ["a"], { a: "1", z: 2 }, "1z"],
    ["({a} = {}) => String(a)", { a: text }, [], {}, "undefined"],
    ["(...r) => r.join('-')", { r: { type: "array", items: text } }, [], { r: ["a", "b"] }, "a-b"],
    ["(...r) => r.join('-')", { r: { type: "array", items: text } }, [], {}, ""],
    ["(a, {b}) => a + b", { a: text, argument_2: { type: "object", properties: { b: text }, required: ["b"], additionalProperties: false } }, ["a", "argument_2"], { a: "1", argument_2: { b: "2" } }, "12"],
    ["([a, b]) => a + b", { argument_1: { type: "array", items: text } }, ["argument_1"], { argument_1: ["1", "2"] }, "12"],
    ["(a /* , b */, /* c = */ d /* ) => { */) => a + d // (x)\n", { a: text, d: text }, ["a", "d"], { a: "1", d: "2" }, "12"],
    ["(a = ')', b = \"=>\", c = `(${1})`, d = /[)]/) => a + b + c + d.source", { a: text, b: text, c: text, d: text }, [], {}, ")=>(1)[)]"],
    ["(a = -1, b = !0, c = [1], d = [], e = null, g = [...[1]]) => [a, b, c, d, e, g].length", { a: { type: "number" }, b: { type: "boolean" }, c: { type: "array", items: { type: "number" } }, d: { type: "array", items: text }, e: text, g: { type: "array", items: text } }, [], {}, "6"],
    ["() => 'nothing'", {}, [], {}, "nothing"],
    ["function () { return arguments.length }", {}, [], {}, "0"],
    ["({ run(a, b = 1) { return a + b } }).run", { a: text, b: { type: "number" } }, ["a"], { a: "x" }, "x1"],
    ["({ async run(a) { return super.toString === undefined ? 0 : a } }).run", { a: text }, ["a"], { a: "x" }, "x"],
    ["new (class { run(a) { return this?.constructor ? 1 : a } })().run", { a: text }, ["a"], { a: "x" }, "x"],
    ["(class { static async run(a) { return a } }).run", { a: text }, ["a"], { a: "x" }, "x"],
    ["({ 'run'(a) { return a } }).run", { a: text }, ["a"], { a: "x" }, "x"],
    ["({ ['r' + 'un'](a) { return a } }).run", { a: text }, ["a"], { a: "x" }, "x"],
    ["({ get(set) { return set } }).get", { set: text }, ["set"], { set: "x" }, "x"],
    ["function (package_, await_) { return package_ + await_ }", { package_: text, await_: text }, ["package_", "await_"], { package_: "1", await_: "2" }, "12"],
    ["function (package, yield) { return package + yield }", { package: text, yield: text }, ["package", "yield"], { package: "1", yield: "2" }, "12"],
    ["(__proto__, constructor) => __proto__ + constructor", { ["__proto__"]: text, constructor: text }, ["__proto__", "constructor"], { ["__proto__"]: "1", constructor: "2" }, "12"],
    ["(naïve, $x) => naïve + $x", { naïve: text, $x: text }, ["naïve", "$x"], { naïve: "1", $x: "2" }, "12"],
  ])("%s", async (source, properties, required, values, result) => {
    const outcome = await tried(written(source), JSON.stringify(values));
    expect(outcome.schema).toEqual({ type: "object", properties, required, additionalProperties: source.includes("...rest") });
    expect(outcome.result).toBe(result);
  });

  test("a model that leaves out what is required is told so", async () => {
    expect((await tried(function greet(name: string, greeting = "Hello") { return `${greeting} ${name}`; })).result).toBe('the argument "name" is missing');
  });

  test.each<[what: string, tool: unknown, message: RegExp]>([
    ["a function without a name", [(city: string) => city][0], /^tools\[0\] is a function without a name/],
    ["a native function", Math.max, /the tool "max" is a function without a source, native or bound/],
    ["a bound function", f.bind(undefined), /the tool "bound f" is a function without a source/],
    ["a class", class Weather { run(): number { return 1; } }, /the tool "Weather" is a class/],
    ["a generator", function* numbers() { yield 1; }, /the tool "numbers" is a generator/],
    ["a getter", written("Object.getOwnPropertyDescriptor({ get now() { return 1 } }, 'now').get"), /"get now"/],
    ["a computed property", written("({[f()]: a}) => a"), /by a name that is computed/],
    ["a repeated parameter", written("function (a, a) { return a }"), /two parameters "a"/],
    ["a name that no provider takes", written("({ 'näme'(a) { return a } }).näme"), /named "näme"/],
    ["nothing", null, /^tools\[0\] must be a function, or an object with a name and execute/],
    ["an object without execute", { name: "look" }, /the tool "look" has no execute function/],
    ["a schema that can't be described", { name: "look", input: {}, execute: f }, /look\.input must be a Standard Schema/],
  ])("%s is refused", (_what, given, message) => {
    // What no type allows is what is tried.
    expect(() => new Agent({ tools: [given as AgentTool] })).toThrow(message);
    expect(() => new Agent({ tools: [given as AgentTool] })).toThrow(TypeError);
  });

  test("two tools of one name are refused", () => {
    expect(() => new Agent({ tools: [f, { name: "f", execute: f }] })).toThrow('two tools are named "f"');
  });

  test("the list that was given is not touched", () => {
    const tools = Object.freeze([f]);
    expect(() => new Agent({ tools })).not.toThrow();
  });
});

describe("defined tools", () => {
  const look = tool({
    name: "look",
    description: "Looks a city up",
    input: v.object({ city: v.string(), days: v.optional(v.pipe(v.number(), v.integer()), 1) }),
    execute: ({ city, days }, { callId, signal }) => ({ city, days, callId, aborted: signal.aborted }),
  });

  test("get arguments of their schema's type, with defaults", async () => {
    const { schema, result } = await tried(look, { city: "Paris" });
    expect(schema).toMatchObject({ type: "object", properties: { city: text, days: { type: "integer" } }, required: ["city"] });
    expect(JSON.parse(String(result))).toEqual({ city: "Paris", days: 1, callId: "call_1", aborted: false });
  });

  test("are not called with arguments that don't fit", async () => {
    const { result } = await tried(look, { city: 5, days: "x" });
    expect(result).toBe("city: Invalid type: Expected string but received 5; days: Invalid type: Expected number but received \"x\"");
  });

  test.each([v.string(), v.array(v.string()), v.number()])("whose input is no object are refused: no provider takes them", (input) => {
    expect(() => new Agent({ tools: [{ name: "look", input, execute: f }] })).toThrow("look.input must be an object's schema");
  });

  test.each([
    ["one of several", v.union([v.object({ city: v.string() }), v.object({ place: v.string() })])],
    ["anything", v.any()],
    ["several at once", v.intersect([v.object({ city: v.string() }), v.looseObject({})])],
  ])("whose input is %s say that it is an object: providers ask for that", async (_what, input) => {
    const { schema, result } = await tried({ name: "look", input, execute: (given: unknown) => given }, { city: "Paris" });
    expect(schema["type"]).toBe("object");
    expect(JSON.parse(String(result))).toEqual({ city: "Paris" });
  });

  test("without input take none", async () => {
    const { schema, result } = await tried({ name: "now", execute: () => "noon" });
    expect(schema).toEqual({ type: "object", properties: {} });
    expect(result).toBe("noon");
  });
});
