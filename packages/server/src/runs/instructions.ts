import { invalidInput, type AgentDefinition } from "@orcha/contract";

const placeholder = /\{\{\s*([A-Za-z_][A-Za-z0-9_]*)\s*\}\}/g;

/** Puts a session's variables into the instructions. Throws `invalid_input` naming the first one that is missing. */
export function fillIn(instructions: string, variables: Readonly<Record<string, string>>): string {
  return instructions.replaceAll(placeholder, (_whole, name: string) => {
    const value = Object.hasOwn(variables, name) ? variables[name] : undefined;
    if (value === undefined) throw invalidInput(["variables", name], "is missing: the agent's instructions need it");
    return value;
  });
}

/** Says which skills there are, and how to load one; nothing where there are none. */
export function skillCatalogue({ skills = {} }: AgentDefinition): string {
  const lines = Object.entries(skills).map(([name, { description, triggers = [] }]) => {
    const when = triggers.length === 0 ? "" : ` Load it for: ${triggers.join("; ")}.`;
    return `- ${name}: ${description.replace(/\.$/, "")}.${when}`;
  });
  if (lines.length === 0) return "";
  return ["Skills are instructions that you load with load_skill when you need them:", ...lines].join("\n");
}

/** Puts the parts of a system prompt together. */
export function joinParts(parts: readonly string[]): string {
  return parts.filter((part) => part !== "").join("\n\n");
}
