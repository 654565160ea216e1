import { canonicalJson, formatPath } from "@orcha/contract";
import type { DescribedAgent } from "../definitions.ts";
import type { Surroundings } from "../surroundings.ts";
import { escapeInvisible } from "./type.ts";

/** Every agent by name, with a fingerprint of each part of its definition. */
export type Parts = ReadonlyMap<string, ReadonlyMap<string, string>>;

/** What became of an agent, or of a part of one. */
export interface Change {
  kind: "added" | "removed" | "changed";
  path: string;
}

/** Takes the fingerprints of definitions, by which a module knows later what has changed. */
export async function partsOf(agents: Record<string, DescribedAgent>, digest: Surroundings["digest"]): Promise<Parts> {
  const parts = new Map<string, Map<string, string>>();
  for (const [key, agent] of Object.entries(agents)) {
    const fingerprints = new Map<string, string>();
    for (const [path, part] of piecesOf(agent)) fingerprints.set(path, (await digest(canonicalJson(part))).slice(0, 8));
    parts.set(visiblePath([key]), fingerprints);
  }
  return parts;
}

function piecesOf(agent: DescribedAgent): [path: string, part: unknown][] {
  const { description, metadata, output } = agent;
  const subagents = agent.subagents.length === 0 ? undefined : agent.subagents;
  const own = Object.entries({ description, metadata, output, subagents }).filter(([, part]) => part !== undefined);
  const named = (["actions", "clientActions", "skills", "evaluations"] as const).flatMap((kind) =>
    Object.entries(agent[kind]).map(([name, part]): [string, unknown] => [visiblePath([kind, name]), part]),
  );
  return [...own, ...named];
}

function visiblePath(path: readonly string[]): string {
  return escapeInvisible(formatPath(path));
}

/** Writes the parts as comments, a line for each. */
export function writeParts(parts: Parts): string {
  const lines = [...parts].flatMap(([agent, pieces]) => [`//   ${agent}`, ...[...pieces].map(([path, print]) => `//     ${path} ${print}`)]);
  return lines.map((line) => `${line}\n`).join("");
}

/** Reads what `writeParts` wrote, from whatever stands around it. */
export function readParts(text: string): Parts {
  const parts = new Map<string, Map<string, string>>();
  let pieces: Map<string, string> | undefined;
  for (const line of text.split(/\r?\n/)) {
    const piece = /^\/\/ {5}(.+) ([0-9a-f]{8})$/.exec(line);
    const agent = /^\/\/ {3}(\S.*)$/.exec(line)?.[1];
    if (piece) pieces?.set(piece[1] ?? "", piece[2] ?? "");
    else if (agent !== undefined) parts.set(agent, (pieces = new Map()));
  }
  return parts;
}

/** What has changed from one to the other: whole agents first by name, the others part by part. */
export function changesBetween(before: Parts, after: Parts): Change[] {
  return compare(before, after, (agent, old, now) =>
    compare(old, now, (path, was, is) => (was === is ? [] : [{ kind: "changed", path }])).map(({ kind, path }) => ({
      kind,
      path: path.startsWith("[") ? agent + path : `${agent}.${path}`,
    })),
  );
}

function compare<T>(before: ReadonlyMap<string, T>, after: ReadonlyMap<string, T>, both: (path: string, old: T, now: T) => Change[]): Change[] {
  const removed = [...before.keys()].filter((path) => !after.has(path)).map((path): Change => ({ kind: "removed", path }));
  const others = [...after].flatMap(([path, now]): Change[] => {
    const old = before.get(path);
    return old === undefined ? [{ kind: "added", path }] : both(path, old, now);
  });
  return [...others, ...removed];
}
