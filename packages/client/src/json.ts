import { invalidInput } from "./error.ts";

/** As deep as the server lets values nest. */
const maxDepth = 64;

/** More values than any request holds; few objects reach it by holding each other many times over. */
const maxValues = 4_194_304;

/** Tells whether the value is a plain object of any realm: not null, no array, no class. */
export function isPlainObject(value: unknown): value is Record<string, unknown> {
  if (typeof value !== "object" || value === null || Array.isArray(value)) return false;
  const prototype: unknown = Object.getPrototypeOf(value);
  // An iframe or a test's sandbox has its own Object.prototype; all of them end the chain.
  return prototype === null || Object.getPrototypeOf(prototype) === null;
}

/** Refuses input that JSON can't carry or would change, naming the place, such as `toolResults[0].output.self`. */
export function checkInput(input: object): void {
  const path: (string | number)[] = [];
  const ancestors: object[] = [];
  let values = 0;

  function refuse(reason: string): never {
    throw invalidInput(formatPath(path), reason);
  }

  function check(value: unknown, key: string | number): void {
    path.push(key);
    values += 1;
    if (values > maxValues) throw invalidInput(String(path[0]), `holds more than ${maxValues} values`);
    if (typeof value === "object") {
      if (value !== null) checkObject(value);
    } else if (typeof value === "number") {
      if (!Number.isFinite(value)) refuse(`is ${value}, which JSON can't carry`);
    } else if (typeof value !== "string" && typeof value !== "boolean") {
      refuse(`is ${value === undefined ? "" : "a "}${typeof value}, which JSON can't carry`);
    }
    path.pop();
  }

  function checkObject(value: object): void {
    if (ancestors.includes(value)) refuse("refers to itself");
    if (ancestors.length >= maxDepth) refuse(`is nested deeper than ${maxDepth} levels`);
    ancestors.push(value);
    if (Array.isArray(value)) {
      // By index, since iteration skips a hole, which JSON would turn into null.
      for (let index = 0; index < value.length; index += 1) check(value[index], index);
    } else {
      if (!isPlainObject(value)) refuse(`is a ${className(value)}, which JSON can't carry`);
      checkProperties(value);
    }
    ancestors.pop();
  }

  function checkProperties(value: object): void {
    for (const [key, child] of Object.entries(value)) {
      // JSON leaves it out, as it should be.
      if (child !== undefined) check(child, key);
    }
  }

  checkProperties(input);
}

function className(value: object): string {
  const { constructor }: { constructor: unknown } = value;
  return (typeof constructor === "function" && constructor.name) || "class";
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
