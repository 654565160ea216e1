import { findJsonFault, formatPath, invalidInput, isPlainObject, OrchaError, type OperationName } from "@orcha/contract";
import type { GenericSchema } from "valibot";
import { readJson } from "./gate.ts";
import { fieldsOf } from "./input.ts";

/** Where a request says what it wants: the names in its path, its query, and its body. */
export interface RestSource {
  request: Request;
  /** Names of the path, decoded. */
  names: Record<string, string>;
}

/** Gathers an operation's input from a query. Throws `invalid_input` with the parameter's name. */
export function readQuery({ request, names }: RestSource, operation: OperationName): Record<string, unknown> {
  const mark = request.url.indexOf("?");
  const input: Record<string, unknown> = {};
  if (mark !== -1) {
    const fields = fieldsOf(operation);
    for (const [key, text] of new URLSearchParams(request.url.slice(mark))) {
      if (Object.hasOwn(input, key)) throw invalidInput([key], "is given more than once");
      if (Object.hasOwn(names, key)) throw invalidInput([key], "is given by the path");
      const value = Object.hasOwn(fields, key) ? readParameter(key, text, fields[key]) : text;
      Object.defineProperty(input, key, { value, enumerable: true });
    }
  }
  return { ...input, ...names };
}

/** Gathers an operation's input from a JSON body. Throws `invalid_input`. */
export async function readBody({ request, names }: RestSource): Promise<Record<string, unknown>> {
  const [parameter] = new URL(request.url).searchParams.keys();
  if (parameter !== undefined) throw invalidInput([parameter.slice(0, 80)], "belongs into the body: this operation takes no query");
  const read = await readJson(request);
  const body = read === undefined ? {} : read;
  if (!isPlainObject(body)) throw new OrchaError("invalid_input", "the body must be a JSON object");
  checkJson(body, []);
  for (const key of Object.keys(names)) {
    if (Object.hasOwn(body, key)) throw invalidInput([key], "is given by the path");
  }
  return { ...body, ...names };
}

function checkJson(value: unknown, path: readonly string[]): void {
  const fault = findJsonFault(value);
  if (!fault) return;
  const at = formatPath([...path, ...fault.path]);
  throw new OrchaError("invalid_input", `${at} ${fault.reason}`, { details: { path: at } });
}

/** What kind of value a parameter holds: text as it is, a number, or JSON for all else. */
export function parameterKind(schema: GenericSchema | undefined): "text" | "number" | "json" {
  if (schema && "wrapped" in schema) return parameterKind(schema.wrapped as GenericSchema);
  if (schema?.type === "number") return "number";
  return schema?.type === "unknown" ? "json" : "text";
}

/** A text that is no number stays one, and the operation's schema says what is wrong with it. */
function readParameter(key: string, text: string, schema: GenericSchema | undefined): unknown {
  const kind = parameterKind(schema);
  if (kind === "number") return /^-?\d{1,16}(\.\d{1,16})?$/.test(text) ? Number(text) : text;
  if (kind === "text") return text;
  try {
    const value: unknown = JSON.parse(text);
    checkJson(value, [key]);
    return value;
  } catch (cause) {
    if (cause instanceof OrchaError) throw cause;
    throw invalidInput([key], "must be JSON");
  }
}
