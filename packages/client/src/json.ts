import { invalidInput } from "./error.ts";

type Path = (string | number)[];

/** As deep as the server lets values nest. */
const maxDepth = 64;

/** Tells whether the value is a plain object of any realm: not null, no array, no class. */
export function isPlainObject(value: unknown): value is Record<string, unknown> {
  if (typeof value !== "object" || value === null || Array.isArray(value)) return false;
  const prototype: unknown = Object.getPrototypeOf(value);
  // An iframe or a test's sandbox has its own Object.prototype; all of them end the chain.
  return prototype === null || Object.getPrototypeOf(prototype) === null;
}

/** Refuses input that JSON can't carry or would change, naming the place, such as `toolResults[0].output.self`. */
export function checkInput(input: object): void {
  for (const [field, value] of Object.entries(input)) {
    if (value !== undefined) check(value, [field], []);
  }
}

function check(value: unknown, path: Path, ancestors: object[]): void {
  switch (typeof value) {
    case "string":
    case "boolean":
      return;
    case "number":
      if (!Number.isFinite(value)) refuse(path, `is ${value}, which JSON can't carry`);
      return;
    case "object":
      if (value !== null) checkObject(value, path, ancestors);
      return;
    default:
      refuse(path, `is ${typeof value === "undefined" ? "" : "a "}${typeof value}, which JSON can't carry`);
  }
}

function checkObject(value: object, path: Path, ancestors: object[]): void {
  if (ancestors.includes(value)) refuse(path, "refers to itself");
  if (ancestors.length >= maxDepth) refuse(path, `is nested deeper than ${maxDepth} levels`);
  ancestors.push(value);
  if (Array.isArray(value)) {
    // By index, since a hole is skipped by iteration and becomes null in JSON.
    for (let index = 0; index < value.length; index += 1) checkChild(value[index], index, path, ancestors);
  } else if (isPlainObject(value)) {
    for (const [key, child] of Object.entries(value)) {
      if (child !== undefined) checkChild(child, key, path, ancestors);
    }
  } else {
    refuse(path, `is a ${value.constructor.name || "class"}, which JSON can't carry`);
  }
  ancestors.pop();
}

function checkChild(child: unknown, key: string | number, path: Path, ancestors: object[]): void {
  path.push(key);
  check(child, path, ancestors);
  path.pop();
}

function refuse(path: Path, reason: string): never {
  throw invalidInput(formatPath(path), reason);
}

/** Writes a path as a person would: keys that need it in quotes. */
export function formatPath(path: readonly (string | number)[]): string {
  let text = "";
  for (const key of path) {
    if (typeof key === "number") text += `[${key}]`;
    else if (/^[A-Za-z_$][\w$]*$/.test(key)) text += text === "" ? key : `.${key}`;
    else text += `[${JSON.stringify(key)}]`;
  }
  return text;
}
