import { argumentsSchemaOf, formatPath, type Schema } from "@orcha/contract";
import { InvalidArguments, type ActionTool } from "./loop-tool.ts";
import type { ToolContext, ToolDefinition } from "./tool.ts";

/** Makes a tool of a definition. Throws a `TypeError` that says what is wrong with it. */
export function definedTool(definition: ToolDefinition, label: string): ActionTool {
  const { name, description, input, execute } = definition;
  if (typeof name !== "string") throw new TypeError(`${label} must be a function, or an object with a name and execute`);
  if (typeof execute !== "function") throw new TypeError(`the tool ${JSON.stringify(name)} has no execute function`);
  const inputSchema = input === undefined ? { type: "object", properties: {} } : argumentsSchemaOf(input, [name, "input"]);
  // Until they are checked nobody knows what the arguments are.
  const run = execute as (input: unknown, context: ToolContext) => unknown;
  return {
    kind: "action",
    name,
    ...(description === undefined ? {} : { description }),
    inputSchema,
    execute: async ({ callId, arguments: given }, signal) => run(input === undefined ? given : await checked(input, given), { callId, signal }),
  };
}

async function checked(schema: Schema, given: unknown): Promise<unknown> {
  const result = await schema["~standard"].validate(given);
  if (!result.issues) return result.value;
  const faults = result.issues.map(({ path = [], message }) => {
    const at = formatPath(path.map((step) => (typeof step === "object" ? step.key : step)).map((key) => (typeof key === "number" ? key : String(key))));
    return at === "" ? message : `${at}: ${message}`;
  });
  throw new InvalidArguments(faults.join("; "));
}
