import { defineAgent, defineAgents } from "@orcha/contract";
import * as v from "valibot";
import { z } from "zod";

type Tree = { name: string; children: Tree[] };
const tree: v.GenericSchema<Tree> = v.object({ name: v.string(), children: v.array(v.lazy(() => tree)) });

const zodTree = z.object({
  name: z.string(),
  get children() {
    return z.array(zodTree);
  },
});

/** Whatever JSON Schema can carry, of two libraries: a generated client has the same types as these definitions. */
export const agents = defineAgents({
  valibotAgent: defineAgent({
    description: "Takes what valibot describes",
    metadata: v.object({
      customerId: v.string(),
      tier: v.optional(v.picklist(["free", "paid"]), "free"),
      score: v.nullable(v.number()),
      isNew: v.nullish(v.boolean()),
    }),
    actions: {
      scalars: {
        description: "Takes scalars",
        input: v.object({
          text: v.pipe(v.string(), v.email(), v.description("An address")),
          whole: v.pipe(v.number(), v.integer(), v.minValue(0)),
          is: v.boolean(),
          nothing: v.null(),
          whatever: v.unknown(),
          literal: v.literal("a"),
          number: v.literal(-3),
          yes: v.literal(true),
          enum: v.enum({ Red: "red", Blue: "blue" }),
          pick: v.picklist(["a", 2, "c"]),
        }),
        output: v.pipe(v.string(), v.transform(Number), v.number()),
      },
      objects: {
        input: v.object({
          optional: v.optional(v.string()),
          exact: v.exactOptional(v.string()),
          nullable: v.nullable(v.string()),
          nullish: v.nullish(v.string()),
          filled: v.optional(v.string(), "x"),
          filledNull: v.nullable(v.string(), "x"),
          nested: v.object({ deep: v.object({ deeper: v.optional(v.object({ deepest: v.array(v.string()) })) }) }),
          strict: v.strictObject({ a: v.string() }),
          loose: v.looseObject({ a: v.string() }),
          rest: v.objectWithRest({ a: v.string() }, v.string()),
          record: v.record(v.string(), v.object({ n: v.number() })),
          "a-b": v.optional(v.number()),
          "": v.string(),
          "it's \"quoted\"": v.string(),
          constructor: v.string(),
          readonly: v.optional(v.string()),
        }),
        output: v.object({
          optional: v.optional(v.string()),
          filled: v.optional(v.string(), "x"),
          filledNullish: v.nullish(v.string(), "x"),
          nullFilled: v.nullish(v.string(), null),
          filledNull: v.nullable(v.string(), "x"),
          loose: v.looseObject({ filled: v.optional(v.string(), () => "x") }),
        }),
      },
      lists: {
        input: v.object({
          list: v.pipe(v.array(v.string()), v.minLength(1), v.maxLength(3)),
          lists: v.array(v.array(v.nullable(v.number()))),
          tuple: v.tuple([v.string(), v.number()]),
          strictTuple: v.strictTuple([v.string(), v.number()]),
          looseTuple: v.looseTuple([v.string(), v.number()]),
          tupleWithRest: v.tupleWithRest([v.string()], v.union([v.number(), v.boolean()])),
          objects: v.array(v.object({ a: v.string(), b: v.optional(v.tuple([v.string()])) })),
        }),
        output: v.array(v.tuple([v.string()])),
      },
      choices: {
        input: v.union([
          v.string(),
          v.object({ kind: v.literal("a"), a: v.string() }),
          v.variant("type", [
            v.object({ type: v.literal("x"), x: v.string() }),
            v.object({ type: v.literal("y"), y: v.nullable(v.array(v.union([v.string(), v.number()]))) }),
          ]),
        ]),
        output: v.intersect([v.object({ a: v.string() }), v.object({ b: v.optional(v.number()) })]),
      },
      trees: { input: tree, output: v.object({ left: v.lazy(() => tree), right: v.optional(v.lazy(() => tree)) }) },
      none: { input: v.object({}) },
    },
    clientActions: {
      "ask-a_person": { input: v.object({ amount: v.number() }), output: v.object({ approved: v.boolean() }), expiresInMs: 1000, onExpire: "deny" },
    },
    skills: { incident_triage: { description: "Sorts incidents" }, "second-skill": { description: "Does more" } },
    evaluations: { response_quality: { metrics: { groundedness: { threshold: 0.8 } } }, "a b": { description: "Odd", metrics: {} } },
    subagents: ["zodAgent"],
    output: v.object({ answer: v.string(), sources: v.optional(v.array(v.string()), []) }),
  }),
  zodAgent: defineAgent({
    metadata: z.object({ customerId: z.string(), tier: z.enum(["free", "paid"]).default("free") }),
    actions: {
      objects: {
        input: z.object({
          optional: z.string().optional(),
          filled: z.number().default(3),
          nullable: z.string().nullable(),
          strict: z.strictObject({ a: z.int() }),
          list: z.array(z.object({ url: z.url() })),
          tuple: z.tuple([z.string(), z.number()]),
          openTuple: z.tuple([z.string()], z.number()),
          shortTuple: z.tuple([z.string(), z.number().optional()]),
          record: z.record(z.string(), z.number()),
          someKeys: z.partialRecord(z.enum(["a", "b"]), z.number()),
          allKeys: z.record(z.enum(["a", "b"]), z.number()),
          oneKey: z.record(z.literal("a"), z.number()),
          literals: z.literal(["a", 1, null]),
          never: z.never().optional(),
        }),
        output: z.object({ filled: z.number().default(3), optional: z.string().optional() }),
      },
      choices: {
        input: z.discriminatedUnion("type", [z.object({ type: z.literal("a"), a: z.string() }), z.object({ type: z.literal("b") })]),
        output: z.union([z.string(), z.array(z.number()), z.null()]),
      },
      trees: { input: zodTree, output: z.object({ root: zodTree }) },
    },
  }),
  plainAgent: defineAgent({}),
});
