import { definedTool } from "./defined-tool.ts";
import type { ReadParameters } from "./function-shape.ts";
import { functionTool } from "./function-tool.ts";
import type { ActionTool } from "./loop-tool.ts";
import type { AgentTool } from "./tool.ts";

/** Makes an agent's tools what the loop takes. Throws a `TypeError` that names the first that can't be one. */
export function actionTools(tools: readonly AgentTool[], read: ReadParameters): ActionTool[] {
  const all = tools.map((tool, index) => {
    const label = `tools[${index}]`;
    const made = typeof tool === "function" ? functionTool(tool, label, read) : definedTool(Object(tool) as typeof tool, label);
    if (!/^[A-Za-z0-9_-]{1,64}$/.test(made.name)) {
      throw new TypeError(`${label} is named ${JSON.stringify(made.name)}; a name has 1 to 64 letters, digits, _ or -`);
    }
    return made;
  });
  const twice = all.find(({ name }, index) => all.findIndex((other) => other.name === name) !== index);
  if (twice) throw new TypeError(`two tools are named ${JSON.stringify(twice.name)}`);
  return all;
}
