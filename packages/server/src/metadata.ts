import { findMetadataFault, invalidInput, type Agent, type Metadata } from "@orcha/contract";

/** Checks a session's whole metadata, against the agent's schema too. Throws `invalid_input` with the path. */
export async function readMetadata(agent: Agent, metadata: unknown = {}): Promise<Metadata> {
  const fault = findMetadataFault(metadata);
  if (fault) throw invalidInput(["metadata", ...fault.path], fault.reason);
  const schema = agent.definition.metadata;
  const result = schema && (await schema["~standard"].validate(metadata));
  const issue = result?.issues?.[0];
  if (issue) throw invalidInput(["metadata", ...keysOf(issue.path)], issue.message);
  return metadata as Metadata;
}

/** The path of a Standard Schema issue. */
export function keysOf(path: readonly (PropertyKey | { key: PropertyKey })[] | undefined): (string | number)[] {
  return (path ?? []).map((segment) => {
    const key = typeof segment === "object" ? segment.key : segment;
    return typeof key === "number" ? key : String(key);
  });
}

/** Checks instruction variables: at most 50, named like identifiers, all strings. Throws `invalid_input`. */
export function readVariables(variables: unknown): Record<string, string> {
  if (variables === undefined) return {};
  if (typeof variables !== "object" || variables === null || Array.isArray(variables)) {
    throw invalidInput(["variables"], "must be an object");
  }
  const entries = Object.entries(variables);
  if (entries.length > 50) throw invalidInput(["variables"], `has ${entries.length} keys; at most 50 fit`);
  for (const [key, value] of entries) {
    if (!/^[A-Za-z_][A-Za-z0-9_]{0,199}$/.test(key)) throw invalidInput(["variables", key.slice(0, 80)], "must be named like an identifier");
    if (typeof value !== "string") throw invalidInput(["variables", key], "must be a string");
  }
  return Object.fromEntries(entries);
}
