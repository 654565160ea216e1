import { parseExpressionAt, type AnyNode, type Expression, type Pattern } from "acorn";
import type { ParameterShape } from "./function-shape.ts";

type Schema = Record<string, unknown>;
type FunctionNode = Extract<AnyNode, { type: "ArrowFunctionExpression" | "FunctionExpression" }>;

/** What a parameter takes of which nothing is known: types are gone when a program runs. */
const unknown: Schema = { type: "string" };

/** Reads parameters with a parser, so that defaults, comments and nested patterns can't be mistaken. */
export function readParameters(source: string): ParameterShape[] {
  const node = functionIn(source);
  if (node.generator) throw new Error("is a generator");
  return node.params.map((parameter): ParameterShape => {
    if (parameter.type === "RestElement") {
      return { ...nameOf(parameter.argument), schema: { type: "array", items: unknown }, isRequired: false, isRest: true };
    }
    return { ...nameOf(parameter), schema: schemaOf(parameter), isRequired: parameter.type !== "AssignmentPattern", isRest: false };
  });
}

function functionIn(source: string): FunctionNode {
  for (const sourceType of ["module", "script"] as const) {
    const found = expression(source, sourceType) ?? method(source, sourceType);
    if (found) return found;
  }
  throw new Error("has a source that can't be read");
}

function expression(source: string, sourceType: "module" | "script"): FunctionNode | undefined {
  const node = parsed(`(${source})`, sourceType);
  if (node?.type === "ClassExpression") throw new Error("is a class");
  return node?.type === "ArrowFunctionExpression" || node?.type === "FunctionExpression" ? node : undefined;
}

/** The source of a method is one inside a class only. */
function method(source: string, sourceType: "module" | "script"): FunctionNode | undefined {
  const node = parsed(`(class{${source}})`, sourceType);
  const [member, more] = node?.type === "ClassExpression" ? node.body.body : [];
  return member?.type === "MethodDefinition" && !more ? member.value : undefined;
}

function parsed(text: string, sourceType: "module" | "script"): Expression | undefined {
  try {
    // What a method may use only inside its class is of no interest here.
    return parseExpressionAt(text, 0, { ecmaVersion: "latest", sourceType, allowSuperOutsideMethod: true, checkPrivateFields: false });
  } catch {
    return undefined;
  }
}

function nameOf(pattern: Pattern): { name?: string } {
  if (pattern.type === "AssignmentPattern") return nameOf(pattern.left);
  return pattern.type === "Identifier" ? { name: pattern.name } : {};
}

function schemaOf(pattern: Pattern): Schema {
  switch (pattern.type) {
    case "AssignmentPattern":
      // A whole that may be left out leaves its parts out as well.
      if (pattern.left.type === "ObjectPattern") return { ...schemaOf(pattern.left), required: [] };
      return pattern.left.type === "Identifier" ? schemaOfDefault(pattern.right) : schemaOf(pattern.left);
    case "ObjectPattern":
      return objectSchema(pattern);
    case "ArrayPattern":
      return { type: "array", items: unknown };
    default:
      return unknown;
  }
}

function objectSchema({ properties }: Extract<Pattern, { type: "ObjectPattern" }>): Schema {
  const schemas: [string, Schema][] = [];
  const required: string[] = [];
  let takesMore = false;
  for (const property of properties) {
    if (property.type === "RestElement") {
      takesMore = true;
      continue;
    }
    const name = keyOf(property.computed, property.key);
    schemas.push([name, schemaOf(property.value)]);
    if (property.value.type !== "AssignmentPattern") required.push(name);
  }
  return { type: "object", properties: Object.fromEntries(schemas), required, additionalProperties: takesMore };
}

function keyOf(isComputed: boolean, key: AnyNode): string {
  if (!isComputed && key.type === "Identifier") return key.name;
  if (!isComputed && key.type === "Literal") return String(key.value);
  throw new Error("takes a property apart by a name that is computed");
}

/** Guesses from a default what the parameter takes; a default that is computed says nothing. */
function schemaOfDefault(node: Expression): Schema {
  switch (node.type) {
    case "Literal": {
      const type = typeof node.value;
      return type === "number" || type === "boolean" ? { type } : unknown;
    }
    case "UnaryExpression":
      if (node.operator === "!") return { type: "boolean" };
      return node.operator === "-" || node.operator === "+" ? schemaOfDefault(node.argument) : unknown;
    case "ArrayExpression": {
      const [first] = node.elements;
      return { type: "array", items: first && first.type !== "SpreadElement" ? schemaOfDefault(first) : unknown };
    }
    case "ObjectExpression":
      return { type: "object", properties: Object.fromEntries(node.properties.flatMap(propertyOfDefault)) };
    default:
      return unknown;
  }
}

function propertyOfDefault(property: Extract<Expression, { type: "ObjectExpression" }>["properties"][number]): [string, Schema][] {
  if (property.type !== "Property" || property.computed) return [];
  return [[keyOf(false, property.key), schemaOfDefault(property.value)]];
}
