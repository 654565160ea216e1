import { isPlainObject } from "@orcha/contract";

/** The field that says yes or no, where an answer is nothing else: `{ approved: boolean }`. */
export function decisionField(schema: unknown): string | undefined {
  if (!isPlainObject(schema) || schema["type"] !== "object" || !isPlainObject(schema["properties"])) return undefined;
  const [only, ...others] = Object.entries(schema["properties"]);
  if (!only || others.length > 0) return undefined;
  const [name, property] = only;
  return isPlainObject(property) && property["type"] === "boolean" ? name : undefined;
}

/** A value that has a schema's outline, as a hint for whoever writes the answer. */
export function exampleOf(schema: unknown, depth = 0): unknown {
  if (!isPlainObject(schema) || depth > 5) return "…";
  const { type, properties, items, enum: values, const: constant, anyOf } = schema;
  if (constant !== undefined) return constant;
  if (Array.isArray(values)) return values[0];
  if (Array.isArray(anyOf)) return exampleOf(anyOf[0], depth + 1);
  switch (type) {
    case "object":
      return Object.fromEntries(Object.entries(isPlainObject(properties) ? properties : {}).map(([name, value]) => [name, exampleOf(value, depth + 1)]));
    case "array":
      return [exampleOf(items, depth + 1)];
    case "number":
    case "integer":
      return 0;
    case "boolean":
      return true;
    case "null":
      return null;
    default:
      return "…";
  }
}
