import { isPlainObject } from "@orcha/contract";
import type { ActionTool } from "./loop-tool.ts";
import type { ParameterShape, ReadParameters } from "./function-shape.ts";
import { InvalidArguments } from "./loop-tool.ts";
import type { PlainFunction } from "./tool.ts";

const advice = "use { name, description, input, execute } instead";

/** Makes a tool of a plain function. Throws a `TypeError` that names it where its source can't tell its parameters. */
export function functionTool(execute: PlainFunction, label: string, read: ReadParameters): ActionTool {
  const { name } = execute;
  if (name === "") throw new TypeError(`${label} is a function without a name; ${advice}`);
  const refuse = (reason: string): never => {
    throw new TypeError(`the tool ${JSON.stringify(name)} ${reason}; ${advice}`);
  };
  const source = Function.prototype.toString.call(execute);
  if (/\{\s*\[(native code|bytecode)\]\s*\}\s*$/.test(source)) refuse("is a function without a source, native or bound");
  const named = parametersOf(source, read, refuse);
  const whole = wholeObject(named);
  const inputSchema = whole?.schema ?? objectOf(named);
  return {
    kind: "action",
    name,
    inputSchema,
    execute: async ({ arguments: given }) => {
      const values = Object(given) as Record<string, unknown>;
      checkRequired(inputSchema, values);
      // A function of no known type takes what the model gives; `never` says only that nobody checked.
      return execute(...((whole ? [withoutNulls(whole.schema, values)] : named.flatMap((parameter) => valuesOf(parameter, values))) as never[]));
    },
  };
}

type Named = ParameterShape & { name: string };

function parametersOf(source: string, read: ReadParameters, refuse: (reason: string) => never): Named[] {
  let shapes: ParameterShape[];
  try {
    shapes = read(source);
  } catch (error) {
    return refuse(error instanceof Error ? error.message : "has a source that can't be read");
  }
  const named = shapes.map((shape, index): Named => ({ ...shape, name: shape.name ?? `argument_${index + 1}` }));
  const twice = named.find(({ name }, index) => named.findIndex((other) => other.name === name) !== index);
  return twice ? refuse(`has two parameters ${JSON.stringify(twice.name)}`) : named;
}

/** A function of one parameter that it takes apart gets the arguments as they are. */
function wholeObject(named: readonly Named[]): Named | undefined {
  const [only] = named;
  return named.length === 1 && only && /^argument_1$/.test(only.name) && only.schema["type"] === "object" ? only : undefined;
}

function objectOf(named: readonly Named[]): Record<string, unknown> {
  return {
    type: "object",
    properties: Object.fromEntries(named.map(({ name, schema }) => [name, schema])),
    required: named.filter(({ isRequired }) => isRequired).map(({ name }) => name),
    additionalProperties: false,
  };
}

function checkRequired({ required }: Record<string, unknown>, values: Record<string, unknown>): void {
  for (const name of Array.isArray(required) ? (required as string[]) : []) {
    if (!Object.hasOwn(values, name)) throw new InvalidArguments(`the argument ${JSON.stringify(name)} is missing`);
  }
}

/** Models say null for what they leave out, which is no reason to lose a default. */
function valuesOf({ name, isRest, isRequired, schema }: Named, values: Record<string, unknown>): unknown[] {
  const value = Object.hasOwn(values, name) ? values[name] : undefined;
  if (isRest) return Array.isArray(value) ? (value as unknown[]) : value === undefined || value === null ? [] : [value];
  return [value === null && !isRequired ? undefined : withoutNulls(schema, value)];
}

/** The same in what a function takes apart: patterns say what they require. */
function withoutNulls({ properties, required }: Record<string, unknown>, value: unknown): unknown {
  if (!isPlainObject(properties) || !Array.isArray(required) || !isPlainObject(value)) return value;
  const kept = Object.entries(value).filter(([name, given]) => given !== null || required.includes(name) || !Object.hasOwn(properties, name));
  return Object.fromEntries(kept.map(([name, given]) => [name, withoutNulls(Object(properties[name]) as Record<string, unknown>, given)]));
}
