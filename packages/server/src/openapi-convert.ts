import { toJsonSchema } from "@valibot/to-json-schema";
import type { GenericSchema } from "valibot";
import { descriptions, discriminators, namedSchemas, spelledOut } from "./openapi-schemas.ts";

/** A part of an OpenAPI document. */
export type Part = Record<string, unknown>;

const prefix = "#/components/schemas/";

/** Describes a schema; what has a name is referred to. */
export function describe(schema: GenericSchema, side: "input" | "output"): Part {
  const { $schema: _schema, $defs: _defs, ...described } = toJsonSchema(schema, {
    target: "draft-2020-12",
    typeMode: side,
    definitions: namedSchemas,
    overrideRef: ({ referenceId }) => `${prefix}${referenceId}`,
    overrideSchema: ({ valibotSchema }) => spelledOut(valibotSchema),
    // What has no counterpart in JSON Schema is checked by the server all the same.
    ignoreActions: ["trim", "check"],
    errorMode: "ignore",
  });
  return tidy(described) as Part;
}

/** Describes every schema that has a name. */
export function describeNamed(): Record<string, Part> {
  return Object.fromEntries(Object.entries(namedSchemas).map(([name, schema]) => [name, describeOne(name, schema)]));
}

function describeOne(name: string, schema: GenericSchema): Part {
  const description = descriptions[name];
  const about = description === undefined ? {} : { description };
  const union = discriminators[name];
  if (!union) return { ...about, ...(spelledOut(schema) ?? describeItself(schema)) };
  const refs = Object.entries(union.names).map(([value, alternative]) => [value, `${prefix}${alternative}`] as const);
  return {
    ...about,
    oneOf: [...new Set(refs.map(([, $ref]) => $ref))].map(($ref) => ({ $ref })),
    discriminator: { propertyName: union.field, mapping: Object.fromEntries(refs) },
  };
}

/** A named schema refers to itself, unless what is described is a copy of it. */
function describeItself(schema: GenericSchema): Part {
  return describe({ ...schema }, "output");
}

/** Leaves out `additionalProperties: {}`: it says nothing, and makes generators type every field as unknown. */
function tidy(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(tidy);
  if (typeof value !== "object" || value === null) return value;
  const kept = Object.entries(value).filter(([key, child]) => key !== "additionalProperties" || !isEmpty(child));
  return Object.fromEntries(kept.map(([key, child]) => [key, tidy(child)]));
}

function isEmpty(value: unknown): boolean {
  return value === true || (typeof value === "object" && value !== null && Object.keys(value).length === 0);
}
