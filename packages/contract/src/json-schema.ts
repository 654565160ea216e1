import type { StandardJSONSchemaV1, StandardSchemaV1 } from "@standard-schema/spec";
import { toJsonSchema, type ConversionConfig } from "@valibot/to-json-schema";
import type { GenericSchema } from "valibot";
import { formatPath, type Path } from "./json.ts";

/** A schema that can check values and describe itself as JSON Schema; valibot's are adapted by Orcha. */
export type Schema = StandardSchemaV1;

/**
 * Describes what goes into a schema, or what comes out of it, as JSON Schema (draft 2020-12). Throws a `TypeError` with
 * the path where it can't.
 */
export function jsonSchemaOf(schema: Schema, path: Path, side: "input" | "output" = "input"): Record<string, unknown> {
  const given: Partial<Schema> | null = schema;
  const standard: (StandardSchemaV1.Props & { jsonSchema?: StandardJSONSchemaV1.Converter }) | undefined = given?.["~standard"];
  if (standard === undefined) return refuse(path, "must be a Standard Schema, such as a valibot schema");
  try {
    if (standard.vendor === "valibot") {
      // A schema whose vendor is valibot is one; the standard's type doesn't say so.
      return { ...toJsonSchema(schema as GenericSchema, { target: "draft-2020-12", typeMode: side, overrideSchema: precise[side] }) };
    }
    if (standard.jsonSchema) return standard.jsonSchema[side]({ target: "draft-2020-12" });
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message : String(cause);
    return refuse(path, `can't be described as JSON Schema: ${reason}`, cause);
  }
  return refuse(path, `comes from ${standard.vendor}, which doesn't offer JSON Schema`);
}

/** Describes what a model calls something with: an object's properties, since providers take nothing else. Throws as above. */
export function argumentsSchemaOf(schema: Schema, path: Path): Record<string, unknown> {
  const described = jsonSchemaOf(schema, path);
  const { type = "object" } = described;
  if (![type].flat().includes("object")) return refuse(path, "must be an object's schema: a model gives arguments by their names");
  return { ...described, type: "object" };
}

type Override = NonNullable<ConversionConfig["overrideSchema"]>;

/** What valibot's converter leaves out, and types need: that an object or a tuple is open, and what a default does. */
const precise: Record<"input" | "output", Override> = {
  input: ({ valibotSchema: { type }, jsonSchema }) => {
    if (type === "loose_object") return { ...jsonSchema, additionalProperties: {} };
    return type === "loose_tuple" ? { ...jsonSchema, items: {} } : undefined;
  },
  output: (context) => {
    const { valibotSchema, jsonSchema } = context;
    const [value] = jsonSchema.anyOf ?? [];
    // With a default, nothing comes out as null or is left out.
    if (/^null(able|ish)$/.test(valibotSchema.type) && hasDefault(valibotSchema) && jsonSchema.default !== null && typeof value === "object") {
      return { ...value, default: jsonSchema.default };
    }
    if (!("entries" in valibotSchema)) return precise.input(context);
    const entries = valibotSchema.entries as Record<string, object>;
    const required = Object.keys(entries).filter((key) => jsonSchema.required?.includes(key) || hasDefault(entries[key]));
    return { ...(precise.input(context) ?? jsonSchema), required };
  },
};

function hasDefault(schema: object | undefined): boolean {
  return schema !== undefined && "default" in schema && schema.default !== undefined;
}

function refuse(path: Path, reason: string, cause?: unknown): never {
  throw new TypeError(`${formatPath(path)} ${reason}`, cause === undefined ? {} : { cause });
}
