import { cutText } from "./cut-text.ts";

/** A value that JSON can carry without loss. */
export type JsonValue = string | number | boolean | null | readonly JsonValue[] | JsonObject;

/** An object of JSON values. */
export interface JsonObject {
  readonly [key: string]: JsonValue | undefined;
}

/** Where a fault is: keys and indexes from the outside in. */
export type Path = readonly (string | number)[];

/** A place in a value that JSON can't carry, and why. */
export interface JsonFault {
  path: Path;
  reason: string;
}

/** How many values one thing that is stored may hold: as many as fit into the largest request. */
export const maxJsonValues = 4_194_304;

/** How deep objects and arrays may nest in anything that is stored. */
export const maxJsonDepth = 64;

/** As much of a key as tells which one it is: a caller may send one of megabytes, and errors and receipts hold no content. */
const maxKeyText = 200;

/** Writes a path as a person would: `messages[3].tool_calls[0].id`, keys that need it in quotes, and long ones cut. */
export function formatPath(path: Path): string {
  let text = "";
  for (const step of path) {
    const key = typeof step === "number" ? step : cutText(step, maxKeyText);
    if (typeof key === "number") text += `[${key}]`;
    else if (/^[A-Za-z_$][\w$]*$/.test(key)) text += text === "" ? key : `.${key}`;
    else text += `[${JSON.stringify(key)}]`;
  }
  return text;
}

/** Tells whether the value is a plain object: not null, not an array, no class. */
export function isPlainObject(value: unknown): value is Record<string, unknown> {
  if (typeof value !== "object" || value === null || Array.isArray(value)) return false;
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === Object.prototype || prototype === null;
}

/**
 * Finds the first place that JSON can't carry: BigInt, NaN, functions, classes such as Date, cycles, holes, more than
 * `maxDepth` levels (default 64), or more than `maxJsonValues` values, which few objects reach by holding each other
 * many times over. A property that is `undefined` is allowed, since JSON leaves it out.
 */
export function findJsonFault(value: unknown, maxDepth: number = maxJsonDepth): JsonFault | undefined {
  const path: (string | number)[] = [];
  const ancestors: object[] = [];
  let values = 0;

  function fault(reason: string): JsonFault {
    return { path: [...path], reason };
  }

  function visit(current: unknown): JsonFault | undefined {
    values += 1;
    if (values > maxJsonValues) return { path: [], reason: `holds more than ${maxJsonValues} values` };
    switch (typeof current) {
      case "string":
      case "boolean":
        return undefined;
      case "number":
        return Number.isFinite(current) ? undefined : fault(`is ${current}, which JSON can't carry`);
      case "object":
        return current === null ? undefined : visitObject(current);
      default:
        return fault(`is ${typeof current === "undefined" ? "" : "a "}${typeof current}, which JSON can't carry`);
    }
  }

  function visitObject(current: object): JsonFault | undefined {
    if (ancestors.includes(current)) return fault("refers to itself");
    if (ancestors.length >= maxDepth) return fault(`is nested deeper than ${maxDepth} levels`);
    ancestors.push(current);
    const found = Array.isArray(current) ? visitArray(current) : visitProperties(current);
    ancestors.pop();
    return found;
  }

  function visitArray(current: readonly unknown[]): JsonFault | undefined {
    for (let index = 0; index < current.length; index += 1) {
      path.push(index);
      const found = visit(current[index]);
      if (found) return found;
      path.pop();
    }
    return undefined;
  }

  function visitProperties(current: object): JsonFault | undefined {
    if (!isPlainObject(current)) return fault(`is a ${className(current)}, which JSON can't carry`);
    for (const key of Object.keys(current)) {
      const child = current[key];
      if (child === undefined) continue;
      path.push(key);
      const found = visit(child);
      if (found) return found;
      path.pop();
    }
    return undefined;
  }

  return visit(value);
}

function className(value: object): string {
  const { constructor }: { constructor: unknown } = value;
  return (typeof constructor === "function" && constructor.name) || "class";
}

/** Writes JSON with sorted keys, so that equal data is equal text. */
export function canonicalJson(value: unknown): string {
  return JSON.stringify(value, (_key, current: unknown) => {
    if (!isPlainObject(current)) return current;
    return Object.fromEntries(
      Object.keys(current)
        .sort()
        .map((key) => [key, current[key]]),
    );
  });
}

/** Copies a JSON value deeply; keys such as `__proto__` stay data. */
export function copyJson<T>(value: T): T {
  // JSON.parse is typed as any; a JSON value comes back as what went in.
  return JSON.parse(JSON.stringify(value)) as T;
}
