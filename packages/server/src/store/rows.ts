import { OrchaError, type OpenEvaluation, type OpenItem, type SessionView, type StoredSnapshot } from "@orcha/contract";
import type { VersionRow } from "./store.ts";

/** How long a receipt answers for its write, in milliseconds: 24 hours. */
export const receiptLifetimeMs = 86_400_000;

/** A session as a write finds it. */
export interface SessionRow {
  key: number;
  sequence: number;
  item_count: number;
  updated_at: number;
  snapshot: string;
  open_items: string;
  lease_owner: string | null;
  lease_until: number;
  lease_fence: number;
}

/** A session's view as databases store it. */
export interface SessionColumns {
  sequence: number;
  itemCount: number;
  /** Milliseconds since 1970, so that times of any precision sort. */
  updatedAt: number;
  status: string;
  runStatus: string | null;
  snapshot: string;
  /** JSON of what waits for its end: items, and then evaluations. */
  openItems: string;
  /** When the first of what waits expires. */
  dueAt: number | null;
}

export function sessionColumns(view: SessionView): SessionColumns {
  const { snapshot, itemCount } = view;
  return {
    sequence: snapshot.sequence,
    itemCount,
    updatedAt: Date.parse(snapshot.updatedAt),
    status: snapshot.status,
    runStatus: snapshot.runStatus ?? null,
    snapshot: JSON.stringify(snapshot),
    openItems: openText(view),
    dueAt: dueAt(view) ?? null,
  };
}

/** When the first of a session's client actions and evaluations expires, in milliseconds since 1970. */
export function dueAt({ snapshot, judging }: SessionView): number | undefined {
  let first: number | undefined;
  for (const { expiresAt } of [...snapshot.pendingClientActions, ...judging]) {
    const at = expiresAt === undefined ? Number.NaN : Date.parse(expiresAt);
    if (at < (first ?? Infinity)) first = at;
  }
  return first;
}

/** Reads a view back. Throws `storage_error` for a damaged one. */
export function viewOf(snapshot: string, itemCount: number, openItems: string): SessionView {
  // Both texts are those of `sessionColumns`.
  let read: StoredSnapshot;
  let waiting: (OpenItem | JudgingEntry)[];
  try {
    read = JSON.parse(snapshot);
    waiting = openItems === "[]" ? [] : JSON.parse(openItems);
  } catch (cause) {
    throw new OrchaError("storage_error", "what is stored of the session's state is damaged", { cause });
  }
  const judging = waiting.flatMap((entry) => (entry.type === "evaluation" ? [entry.judging] : []));
  const open = waiting.filter((entry) => entry.type !== "evaluation");
  return { snapshot: read, itemCount, open, judging };
}

interface JudgingEntry {
  type: "evaluation";
  judging: OpenEvaluation;
}

function openText({ open, judging }: SessionView): string {
  if (open.length === 0 && judging.length === 0) return "[]";
  return JSON.stringify([...open, ...judging.map((entry): JudgingEntry => ({ type: "evaluation", judging: entry }))]);
}

/** The session that a delegated one belongs to and is deleted with; nothing for any other. */
export function parentOf({ lineage }: StoredSnapshot): { agent: string; sessionId: string } | undefined {
  if (lineage?.origin !== "delegated") return undefined;
  return { agent: lineage.parentAgent, sessionId: lineage.parentSessionId };
}

/** Metadata as its index holds it: JSON, so that every key and value is storable and types stay apart. */
export function metadataRows({ metadata }: Pick<StoredSnapshot, "metadata">): [key: string, value: string][] {
  return Object.entries(metadata).map(([key, value]) => [JSON.stringify(key), JSON.stringify(value)]);
}

/** Where the versions of a batch go. */
export interface VersionPlan {
  /** Versions that the batch itself overtook: straight to the past. */
  past: VersionRow[];
  /** Positions whose present version becomes the past. */
  kept: number[];
  added: VersionRow[];
  changed: VersionRow[];
}

/** Only the last version of an item becomes the item; the others of the batch are its past. */
export function planVersions(versions: readonly VersionRow[]): VersionPlan {
  const plan: VersionPlan = { past: [], kept: [], added: [], changed: [] };
  const last = new Map<number, VersionRow>();
  const fresh = new Set<number>();
  for (const version of versions) {
    const earlier = last.get(version.position);
    if (earlier) plan.past.push(earlier);
    else if (version.isNew) fresh.add(version.position);
    else plan.kept.push(version.position);
    last.set(version.position, version);
  }
  for (const version of last.values()) (fresh.has(version.position) ? plan.added : plan.changed).push(version);
  return plan;
}

/** The look-up keys of a batch's new items. */
export function lookupRows(versions: readonly VersionRow[]): { lookup: string; position: number }[] {
  return versions.flatMap(({ isNew, lookups, position }) => (isNew ? lookups.map((lookup) => ({ lookup, position })) : []));
}
