import { defineAgent, defineAgents, jsonSchemaOf, reservedAgentKeys, type AgentDefinition, type Schema } from "@orcha/contract";
import * as v from "valibot";
import { describe, expect, it, test } from "vitest";

const input = v.object({ orderId: v.string() });

/** Loads a definition as the agent `desk`, however wrong; types are for those who write it, not for what arrives. */
function load(definition: unknown, others: Record<string, unknown> = {}): void {
  const agents = { desk: { definition: definition as AgentDefinition }, ...others };
  defineAgents(agents as Record<string, { definition: AgentDefinition }>);
}

/** A schema of some other library. */
function foreign(jsonSchema?: unknown): Schema {
  const standard = { version: 1, vendor: "other", validate: (value: unknown) => ({ value }), ...(jsonSchema === undefined ? {} : { jsonSchema }) };
  return { "~standard": standard } as Schema;
}

function metrics(threshold: unknown): object {
  return { q: { metrics: { m: { threshold } } } };
}

describe("a definition without fault", () => {
  it("is handed back as it is", () => {
    const agents = {
      $desk_1: defineAgent({
        description: "Answers order questions",
        metadata: v.object({ customerId: v.string() }),
        actions: { lookup_order: { input, output: v.object({ status: v.string() }) }, "by-id": { input } },
        clientActions: { request_human_approval: { input, expiresInMs: 86_400_000, onExpire: "deny" } },
        skills: { incident_triage: { description: "Sorts incidents", triggers: ["outage"] } },
        evaluations: { response_quality: { metrics: { groundedness: { threshold: 0.8 }, tone: { threshold: 0 } } } },
        subagents: ["researcher"],
        output: v.object({ answer: v.string() }),
      }),
      researcher: defineAgent({}),
    };
    expect(defineAgents(agents)).toBe(agents);
    expect(defineAgents({})).toEqual({});
  });
});

describe("a fault throws when the file loads, and names its path", () => {
  test.each<[unknown, RegExp]>([
    [{ instructions: "x" }, /^desk\.instructions is unknown; an agent has description, metadata, /],
    [{ actions: { "look up": { input } } }, /^desk\.actions\["look up"\] must be 1 to 64 letters, digits, _ or -$/],
    [{ actions: { ["a".repeat(65)]: { input } } }, /^desk\.actions\.a+ must be 1 to 64/],
    [{ actions: { "": { input } } }, /^desk\.actions\[""\] must be/],
    [{ actions: { load_skill: { input } } }, /^desk\.actions\.load_skill is reserved$/],
    [{ clientActions: { run_agent: { input } } }, /^desk\.clientActions\.run_agent is reserved$/],
    [{ skills: { resume_agent: { description: "x" } } }, /^desk\.skills\.resume_agent is reserved$/],
    [{ skills: { inspect_agent: { description: "x" } } }, /^desk\.skills\.inspect_agent is reserved$/],
    [{ actions: { a: { input } }, clientActions: { a: { input } } }, /^desk\.clientActions\.a is taken: /],
    [{ clientActions: { a: { input } }, skills: { a: { description: "x" } } }, /^desk\.skills\.a is taken: /],
    [{ actions: { a: null } }, /^desk\.actions\.a must be an object with an input schema$/],
    [{ actions: { a: {} } }, /^desk\.actions\.a\.input is missing$/],
    [{ actions: { a: { input: null } } }, /^desk\.actions\.a\.input must be a Standard Schema/],
    [{ actions: { a: { input: { type: "object" } } } }, /^desk\.actions\.a\.input must be a Standard Schema/],
    [{ actions: { a: { input, output: 5 } } }, /^desk\.actions\.a\.output must be a Standard Schema/],
    [{ metadata: { customerId: "string" } }, /^desk\.metadata must be a Standard Schema/],
    [{ output: v.object({ at: v.date() }) }, /^desk\.output can't be described as JSON Schema: .*date/],
    [{ actions: { a: { input: v.object({ at: v.date() }) } } }, /^desk\.actions\.a\.input can't be described as JSON Schema: .*date/],
    [{ actions: { a: { input: v.pipe(v.string(), v.check((text) => text !== "")) } } }, /^desk\.actions\.a\.input can't be described as JSON Schema: .*check/],
    [{ actions: { a: { input: v.pipe(v.date(), v.transform(String)) } } }, /^desk\.actions\.a\.input can't be described as JSON Schema: .*date/],
    [{ clientActions: { a: { input, output: v.bigint() } } }, /^desk\.clientActions\.a\.output can't be described as JSON Schema: .*bigint/],
    [{ metadata: foreign() }, /^desk\.metadata comes from other, which doesn't offer JSON Schema$/],
    [{ clientActions: { a: { input, expiresInMs: 0 } } }, /^desk\.clientActions\.a\.expiresInMs must be a positive integer$/],
    [{ clientActions: { a: { input, expiresInMs: Number.MAX_SAFE_INTEGER } } }, /^desk\.clientActions\.a\.expiresInMs must be at most a hundred years/],
    [{ clientActions: { a: { input, expiresInMs: 1.5 } } }, /^desk\.clientActions\.a\.expiresInMs must be/],
    [{ clientActions: { a: { input, onExpire: "later" } } }, /^desk\.clientActions\.a\.onExpire must be "deny" or "fail"$/],
    [{ evaluations: { q: null } }, /^desk\.evaluations\.q\.metrics is missing$/],
    [{ evaluations: { q: {} } }, /^desk\.evaluations\.q\.metrics is missing$/],
    [{ evaluations: metrics(1.1) }, /^desk\.evaluations\.q\.metrics\.m\.threshold must be from 0 to 1$/],
    [{ evaluations: metrics(Number.NaN) }, /^desk\.evaluations\.q\.metrics\.m\.threshold must be/],
    [{ evaluations: metrics(undefined) }, /^desk\.evaluations\.q\.metrics\.m\.threshold must be/],
    [{ evaluations: { q: { metrics: { m: null } } } }, /^desk\.evaluations\.q\.metrics\.m\.threshold must be/],
    [{ subagents: ["nobody"] }, /^desk\.subagents\[0\] names "nobody", which is not defined$/],
    [{ subagents: ["toString"] }, /^desk\.subagents\[0\] names "toString", which is not defined$/],
    [{ subagents: ["other", "desk"] }, /^desk\.subagents\[1\] is the agent itself$/],
    [null, /^desk must come from defineAgent\(\)$/],
    ["x", /^desk must come from defineAgent\(\)$/],
  ])("%#: %s", (definition, message) => {
    expect(() => load(definition, { other: defineAgent({}) })).toThrow(TypeError);
    expect(() => load(definition, { other: defineAgent({}) })).toThrow(message);
  });

  test.each(reservedAgentKeys)("the reserved key %s", (key) => {
    expect(() => load({}, Object.fromEntries([[key, defineAgent({})]]))).toThrow(TypeError);
    expect(() => load({}, Object.fromEntries([[key, defineAgent({})]]))).toThrow("is reserved and can't name an agent");
  });

  it("reserves what promises, consoles and React read", () => {
    const needed = ["then", "catch", "finally", "toJSON", "toString", "valueOf", "constructor", "prototype", "__proto__", "inspect", "$$typeof"];
    expect(reservedAgentKeys).toEqual(expect.arrayContaining(needed));
  });

  test.each(["support-agent", "1st", "", "a b", "naïve", "a".repeat(65)])("a key that is no identifier: %s", (key) => {
    expect(() => load({}, { [key]: defineAgent({}) })).toThrow("must be a JavaScript identifier of 1 to 64 ASCII characters");
  });

  it("keeps what a schema's own library said as the cause", () => {
    let caught: unknown;
    try {
      load({ output: v.date() });
    } catch (error) {
      caught = error;
    }
    expect(caught).toBeInstanceOf(TypeError);
    expect((caught as TypeError).cause).toBeInstanceOf(Error);
  });
});

describe("jsonSchemaOf", () => {
  it("describes a valibot schema", () => {
    const schema = v.object({ amount: v.pipe(v.number(), v.minValue(0)), currency: v.picklist(["USD", "EUR"]), note: v.optional(v.string()) });
    expect(jsonSchemaOf(schema, [])).toEqual({
      $schema: "https://json-schema.org/draft/2020-12/schema",
      type: "object",
      properties: { amount: { type: "number", minimum: 0 }, currency: { enum: ["USD", "EUR"], type: "string" }, note: { type: "string" } },
      required: ["amount", "currency"],
    });
  });

  it("describes what comes out of an output, where a transform can't be described", () => {
    const output = v.pipe(v.string(), v.transform(Number));
    expect(() => load({ output })).toThrow("desk.output can't be described as JSON Schema");
    expect(() => load({ actions: { a: { input: v.string(), output } } })).toThrow("desk.actions.a.output can't be described");
  });

  it("describes what goes in, not what comes out", () => {
    expect(jsonSchemaOf(v.object({ a: v.optional(v.string(), "x") }), [])).toMatchObject({ required: [] });
    expect(jsonSchemaOf(v.pipe(v.string(), v.transform(Number)), [])).toMatchObject({ type: "string" });
  });

  it("says what valibot's types say: what a default fills in is always in an output", () => {
    const schema = v.object({
      a: v.optional(v.number(), 3),
      b: v.optional(v.number()),
      c: v.nullish(v.boolean(), true),
      d: v.nullable(v.string(), "x"),
      e: v.nullish(v.string(), null),
      f: v.object({ g: v.optional(v.string(), () => "y") }),
    });
    expect(jsonSchemaOf(schema, [], "output")).toMatchObject({
      properties: {
        c: { type: "boolean", default: true },
        d: { type: "string", default: "x" },
        e: { anyOf: [{ type: "string" }, { type: "null" }], default: null },
        f: { required: ["g"] },
      },
      required: ["a", "c", "d", "e", "f"],
    });
    expect(jsonSchemaOf(schema, [], "input")).toMatchObject({
      properties: { d: { anyOf: [{ type: "string" }, { type: "null" }] }, f: { required: [] } },
      required: ["d", "f"],
    });
  });

  it("says which of valibot's objects and tuples are open", () => {
    const a = v.string();
    const schema = v.object({ loose: v.looseObject({ a }), plain: v.object({ a }), strict: v.strictObject({ a }), looseTuple: v.looseTuple([a]), tuple: v.tuple([a]) });
    for (const side of ["input", "output"] as const) {
      const { properties } = jsonSchemaOf(schema, [], side) as { properties: Record<string, object> };
      expect(properties["loose"]).toMatchObject({ additionalProperties: {}, required: ["a"] });
      expect(properties["plain"]).not.toHaveProperty("additionalProperties");
      expect(properties["strict"]).toMatchObject({ additionalProperties: false });
      expect(properties["looseTuple"]).toMatchObject({ items: {}, minItems: 1 });
      expect(properties["tuple"]).not.toHaveProperty("items");
    }
  });

  it("takes any Standard JSON Schema, and asks for the same draft", () => {
    const asked: unknown[] = [];
    const converter = {
      input: (options: unknown) => {
        asked.push(options);
        return { type: "object" };
      },
      output: () => ({ type: "string" }),
    };
    expect(jsonSchemaOf(foreign(converter), [])).toEqual({ type: "object" });
    expect(asked).toEqual([{ target: "draft-2020-12" }]);
    expect(() => load({ metadata: foreign(converter), actions: { a: { input: foreign(converter) } } })).not.toThrow();
  });

  it("names the path where another library can't", () => {
    const converter = {
      input: () => {
        throw new Error("unsupported target");
      },
    };
    expect(() => load({ metadata: foreign(converter) })).toThrow("desk.metadata can't be described as JSON Schema: unsupported target");
  });
});
