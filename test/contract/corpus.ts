import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";

const root = join(import.meta.dirname, "../corpus");

/** What a case expects of an import; see the corpus' README. */
export interface Expectation {
  import?: "accepted" | "rejected";
  error?: string;
  index?: number;
  messages?: number;
  messages_in?: number[];
  roles?: string[];
  warnings?: string[];
  warning_refs?: string[];
  warning_indexes?: number[];
  normalized?: Record<string, unknown>;
  stored_arguments_verbatim?: string;
}

/** Reads a case of one input. */
export function readCase(id: string): { title: string; expect: Expectation; input: unknown } {
  const { title, expect } = readJson(id, "case.json") as { title: string; expect: Expectation };
  return { title, expect, input: readJson(id, "input.json") };
}

/** Reads one step of a case that is a table. */
export function readStep(id: string, step: string): { title: string; expect: Expectation; input: unknown } {
  const { title, expect } = readJson(id, "case.json") as { title: string; expect: { steps: Record<string, Expectation> } };
  const { steps } = readJson(id, "script.json") as { steps: { id: string; input: unknown }[] };
  const found = expect.steps[step];
  if (!found) throw new Error(`case ${id} has no step ${step}`);
  return { title: `${title}, ${step}`, expect: found, input: steps.find((candidate) => candidate.id === step)?.input };
}

function readJson(id: string, file: string): unknown {
  const folder = readdirSync(root).find((name) => name.startsWith(id));
  if (folder === undefined) throw new Error(`no case ${id}`);
  return JSON.parse(readFileSync(join(root, folder, file), "utf8"));
}
