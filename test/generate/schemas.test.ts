import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { defineAgent, defineAgents } from "@orcha/contract";
import { expect, test } from "vitest";
import { answering } from "../cli/answering.ts";
import { orcha } from "../cli/orcha.ts";
import { appFolders, compile, newest } from "./compilers.ts";
import { agentOf, generate, schemaOf } from "./generated.ts";

const newFolder = appFolders();

const string = { type: "string" };
const number = { type: "number" };
const object = (properties: object, more: object = {}) => ({ type: "object", properties, required: Object.keys(properties), ...more });

/** A schema, and the type of what fits it. */
const cases: [name: string, schema: unknown, type: string][] = [
  ["anything", {}, "unknown"],
  ["true", true, "unknown"],
  ["false", false, "never"],
  ["not anything", { not: {} }, "never"],
  ["not something", { ...string, not: { const: "a" } }, "string"],
  ["a string, whatever its format", { type: "string", format: "date-time", minLength: 3, pattern: "^a" }, "string"],
  ["an integer", { type: "integer" }, "number"],
  ["several types", { type: ["string", "null"] }, "string | null"],
  ["a type that isn't one", { type: "date" }, "unknown"],
  ["a constant", { type: "string", const: "a" }, '"a"'],
  ["constants that are objects", { enum: [{ a: [1, null] }, [], -0.5, 1e21] }, "{ a: [1, null] } | [] | -0.5 | 1e+21"],
  ["a number that no number is", { const: Number.POSITIVE_INFINITY }, "null"],
  ["characters that can't be seen", { const: "a\u2028\u202eb\u200d\u{e0001}" }, String.raw`"a\u2028\u202eb\u200d\udb40\udc01"`],
  ["quotes and backticks", { const: "\"'`${x}\\" }, '"\\"\'`${x}\\\\"'],
  ["an object", object({ a: string }), "{ a: string }"],
  ["an object without properties", { type: "object" }, "{ [key: string]: unknown }"],
  ["an empty object", { type: "object", additionalProperties: false }, "{}"],
  ["odd keys", object({ "a-b": string, "1": string, "": string, "*/": string, "ä": string, "new": string }), '{ "1": string; "a-b": string; "": string; "*/": string; "ä": string; new: string }'],
  ["hostile keys", JSON.parse('{"type":"object","properties":{"__proto__":{"type":"string"},"constructor":{"type":"number"}}}'), "{ __proto__?: string; constructor?: number }"],
  ["what must be there, without a type", { type: "object", required: ["a"] }, "{ a: unknown }"],
  ["an object that doesn't say so", { properties: { a: string } }, "{ a?: string }"],
  ["a record", { type: "object", additionalProperties: number }, "{ [key: string]: number }"],
  ["a record of a pattern", { type: "object", patternProperties: { "^a": number, "^b": string }, additionalProperties: false }, "{ [key: string]: number | string }"],
  ["a record of known keys", { type: "object", propertyNames: { enum: ["a", "b"] }, additionalProperties: number, required: ["a"] }, "{ a: number; b?: number }"],
  ["a record of one known key", { type: "object", propertyNames: { type: "string", const: "a" }, additionalProperties: number, required: ["a"] }, "{ a: number }"],
  ["a record of keys of several kinds", { type: "object", propertyNames: { anyOf: [{ const: "a" }, { enum: ["b", "c"] }] }, additionalProperties: number }, "{ a?: number; b?: number; c?: number }"],
  ["a record of a known key and others", { type: "object", propertyNames: { anyOf: [{ const: "a" }, { pattern: "^x-" }] }, additionalProperties: number }, "{ [key: string]: number }"],
  ["properties and a record", object({ a: string }, { additionalProperties: number }), "{ a: string } & { [key: string]: number }"],
  ["a list", { type: "array", items: string, minItems: 3 }, "string[]"],
  ["a list of anything", { type: "array" }, "unknown[]"],
  ["an empty list", { type: "array", items: false }, "[]"],
  ["a list of unions", { type: "array", items: { type: ["string", "null"] } }, "(string | null)[]"],
  ["a list of both", { type: "array", items: { allOf: [object({ a: string }), object({ b: string })] } }, "({ a: string } & { b: string })[]"],
  ["a list that doesn't say so", { items: string }, "string[]"],
  ["a tuple", { type: "array", prefixItems: [string, number], items: false, minItems: 2 }, "[string, number]"],
  ["a tuple that may be short", { type: "array", prefixItems: [string, { type: ["number", "null"] }], minItems: 1 }, "[string, (number | null)?]"],
  ["a tuple that may be long", { type: "array", prefixItems: [string], items: { type: ["number", "null"] }, minItems: 1 }, "[string, ...(number | null)[]]"],
  ["a tuple that may not", { type: "array", prefixItems: [string, number, string], items: string, minItems: 2, maxItems: 2 }, "[string, number]"],
  ["one of", { oneOf: [string, number, string] }, "string | number"],
  ["any of, with what all have", { type: "object", properties: { a: string }, required: ["a"], anyOf: [{ required: ["b"] }, { required: ["c"] }] }, "{ a: string } & ({ b: unknown } | { c: unknown })"],
  ["any of that says nothing", { ...string, anyOf: [{ minLength: 3 }, { pattern: "a" }] }, "string"],
  ["all of", { allOf: [object({ a: string }), { allOf: [object({ b: string }), true] }] }, "{ a: string } & { b: string }"],
  ["all of with nothing", { allOf: [string, false] }, "never"],
  ["a reference", { $ref: "#/$defs/Some%20one", $defs: { "Some one": string } }, "CasesAReferenceArgumentsSomeOne"],
  ["a reference to a path", { ...object({ a: string, b: { $ref: "#/properties/a" } }) }, "{ a: string; b: CasesAReferenceToAPathArgumentsPropertiesA }"],
  ["a reference to nothing", { $ref: "#/$defs/none" }, "unknown"],
  ["a reference to elsewhere", { $ref: "https://example.com/schema.json" }, "unknown"],
  ["a reference to itself alone", { $ref: "#" }, "unknown"],
  ["references in a circle", { $ref: "#/$defs/a", $defs: { a: { anyOf: [string, { $ref: "#/$defs/b" }] }, b: { allOf: [{ $ref: "#/$defs/a" }] } } }, "unknown"],
  ["itself in a list", { anyOf: [string, { type: "array", items: { $ref: "#" } }] }, "CasesItselfInAListArguments"],
  ["itself in a property", object({ next: { anyOf: [{ $ref: "#" }, { type: "null" }] } }), "CasesItselfInAPropertyArguments"],
  ["each other", object({ a: { $ref: "#/$defs/A" } }, { $defs: { A: object({ b: { $ref: "#/$defs/B" } }), B: { type: "array", items: { $ref: "#/$defs/A" } } } }), "{ a: CasesEachOtherArgumentsA }"],
  ["definitions without names", { $ref: "#/$defs/0", $defs: { 0: object({ x: { $ref: "#/$defs/__schema1" } }), __schema1: object({ y: { $ref: "#/$defs/0" } }) } }, "CasesDefinitionsWithoutNamesArguments"],
];

test("JSON Schemas become the types of what fits them", async () => {
  const folder = newFolder();
  const names = cases.map(([name]) => name.replaceAll(/\W+/g, "_"));
  const text = await generate(defineAgents({ cases: agentOf(Object.fromEntries(cases.map(([, schema], index) => [names[index], schema]))) }), folder);
  const types = names.map((name) => new RegExp(`^ {4}${name}: {\n {6}arguments: (.*);\n`, "m").exec(text)?.[1]);
  expect(types.map((type, index) => [cases[index]?.[0], type])).toEqual(cases.map(([name, , type]) => [name, type]));
  for (const declared of [
    "export type CasesAReferenceArgumentsSomeOne = string;",
    "export type CasesItselfInAListArguments = string | CasesItselfInAListArguments[];",
    "export interface CasesItselfInAPropertyArguments {\n  next: CasesItselfInAPropertyArguments | null;\n}",
    "export interface CasesEachOtherArgumentsA {\n  b: CasesEachOtherArgumentsB;\n}",
    "export type CasesEachOtherArgumentsB = CasesEachOtherArgumentsA[];",
    "export interface CasesDefinitionsWithoutNamesArguments {\n  x: CasesDefinitionsWithoutNamesArguments2;\n}",
    "export interface CasesDefinitionsWithoutNamesArguments2 {\n  y: CasesDefinitionsWithoutNamesArguments;\n}",
  ]) {
    expect(text).toContain(`\n${declared}\n`);
  }
  expect(await compile(folder, newest)).toBe("");
});

test("what definitions say stands in comments, and can't leave them", async () => {
  const folder = newFolder();
  const hostile = "Ends */ export const x = 1; /* and `ticks` ${y}\r\n@deprecated not so\n\n  \u202eturned\u2028next\u0007\ud800";
  const said = { ...string, description: hostile, deprecated: true, default: "*/ x\u2028" };
  const text = await generate(
    defineAgents({
      said: defineAgent({
        description: hostile,
        metadata: schemaOf({ ...object({ a: said }), description: "What is known" }),
        actions: { act: { description: hostile, input: schemaOf({ ...object({ a: said }), deprecated: true }), output: schemaOf({ ...string, description: "One" }) } },
        skills: { skill: { description: hostile } },
        evaluations: { "odd\n*/ name\u2028": { description: hostile, metrics: {} } },
      }),
    }),
    folder,
  );
  expect(text).toContain(`/**
 * Ends *\\/ export const x = 1; /* and \`ticks\` \${y}
 * \\@deprecated not so
 *
 *   \ufffdturned
 * next\ufffd\ufffd
 */
export interface Said {
  /** What is known */
  metadata: {
    /**
     * Ends *\\/ export const x = 1; /* and \`ticks\` \${y}
     * \\@deprecated not so
     *
     *   \ufffdturned
     * next\ufffd\ufffd
     * @deprecated
     * @defaultValue "*\\/ x\ufffd"
     */
    a: string;
  };
`);
  expect(text).toContain("      /** One */\n      output: string;\n");
  expect(text).toContain(String.raw`evaluations: "odd\n*/ name\u2028";`);
  // oxlint-disable-next-line no-control-regex -- Control characters are what this is about.
  expect(text).not.toMatch(/[\0-\x09\x0b-\x1f\x7f-\x9f\u2028\u2029\u202e]/);
  expect(await compile(folder, newest)).toBe("");
  expect(await exportsOf(folder)).toEqual(["connect", "orcha"]);
});

test("a hostile server gets no code of its own into the file", async () => {
  const folder = newFolder();
  const key = 'a"; } export const x = 1; //';
  const described = { description: "*/ export const x = 1;", actions: { [key]: { input: { const: key } } }, clientActions: {}, skills: { [key]: {} }, evaluations: {}, subagents: [key] };
  const url = await answering(200, JSON.stringify({ version: "v1", agents: { [key]: described, "a\nb": { ...described, metadata: false } } }));
  expect(await orcha(["generate", "--url", url, "--out", "orcha.gen.ts"], { cwd: folder })).toMatchObject({ code: 0, stderr: "" });
  expect(await exportsOf(folder)).toEqual(["connect", "orcha"]);
});

async function exportsOf(folder: string): Promise<string[]> {
  const generated = (await import(join(folder, "orcha.gen.ts"))) as object;
  return Object.keys(generated).toSorted();
}

test("names of types are never the same twice", async () => {
  const folder = newFolder();
  const agent = defineAgent({ actions: { a: { input: schemaOf({ $ref: "#/$defs/東 京", $defs: { "東 京": object({ x: { $ref: "#/$defs/東_京" } }), "東_京": string } }) } } });
  const keys = ["agents", "Agents", "metadata", "orcha", "orchaOptions", "support_agent", "supportAgent", "SupportAgent", "$", "_1", "array", "string", "object", "promise", "record", "partial", "omit", "supportAgentA"];
  const text = await generate(defineAgents(Object.fromEntries(keys.map((key) => [key, agent]))), folder);
  const declared = [...text.matchAll(/^export (?:interface|type) (\S+)/gm)].map(([, name]) => name);
  expect(new Set(declared).size).toBe(declared.length);
  expect(/^export interface Agents \{\n([\s\S]*?)^\}/m.exec(text)?.[1]?.match(/\S+: \S+;/g)).toEqual([
    "agents: Agents2;", "Agents: Agents3;", "metadata: Metadata2;", "orcha: Orcha2;", "orchaOptions: OrchaOptions2;",
    "support_agent: SupportAgent;", "supportAgent: SupportAgent2;", "SupportAgent: SupportAgent3;", "$: Type;", "_1: Type1;",
    "array: Array;", "string: String;", "object: Object;", "promise: Promise;", "record: Record;", "partial: Partial2;", "omit: Omit2;", "supportAgentA: SupportAgentA;",
  ]);
  expect(text).toContain("export interface SupportAgentAArguments東京 {\n  x: SupportAgentAArguments東京2;\n}\n");
  writeFileSync(join(folder, "use.ts"), `import { orcha } from "./orcha.gen.ts";\nfor (const item of (await orcha.promise.history("s")).items) if (item.type === "action" && item.name === "a") item.arguments?.x.trim();\n`);
  expect(await compile(folder, newest)).toBe("");
});
