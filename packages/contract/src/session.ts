import * as v from "valibot";
import type { AgentTypes, AnyAgentTypes, ArgumentsOf, Unlisted } from "./agent.ts";
import type { ClientActionCall, EventError, Lineage, RunStatus } from "./event.ts";
import { isPlainObject, type Path } from "./json.ts";
import { usageSchema, type Usage } from "./usage.ts";

/** Whether a session takes new turns. */
export type SessionStatus = "active" | "paused" | "completed";

/** A client action that waits for its answer. */
export interface PendingClientAction<Name = string, Arguments = unknown> {
  callId: string;
  name: Name;
  arguments: Arguments;
  expiresAt?: string;
}

/** The pending client actions of an agent; narrow by `name`. */
export type PendingClientActionOf<T extends AgentTypes> =
  | {
      [Name in keyof T["clientActions"] & string]: PendingClientAction<Name, ArgumentsOf<T["clientActions"][Name]>>;
    }[keyof T["clientActions"] & string]
  | PendingClientAction<Unlisted>;

/** A session at a glance, as of the request. */
export type SessionSnapshot<T extends AgentTypes = AnyAgentTypes> = Snapshot<T["metadata"], PendingClientActionOf<T>>;

/** The fields of a snapshot; its parameters are values, so that any agent's snapshot fits where any is taken. */
export interface Snapshot<Metadata, Pending> {
  sessionId: string;
  agent: string;
  name?: string;
  status: SessionStatus;
  metadata: Metadata;
  createdAt: string;
  /** Time of the last event. */
  updatedAt: string;
  /** Absent until a run was logged, or a client action asked. */
  runStatus?: RunStatus;
  pendingClientActions: Pending[];
  /** The last answer: structured output, or the text of the last assistant message that has any. */
  lastOutput?: unknown;
  /** Why the last run failed. */
  lastError?: EventError;
  /** Usage of the last run. */
  usage?: Usage;
  /** Usage of all assistant messages that tell theirs. */
  totalUsage?: Usage;
  lineage?: Lineage;
  /** Sequence of the last event. */
  sequence: number;
}

/** A session id that a caller may bring. */
export const sessionIdSchema = v.pipe(
  v.string(),
  v.regex(
    /^[A-Za-z0-9_][A-Za-z0-9_:.-]{0,127}$/,
    "must be 1 to 128 letters, digits, or _ : . - and start with a letter, a digit or _",
  ),
);

/** A name that a person gives to a session: trimmed, 1 to 200 characters. */
export const sessionNameSchema = v.pipe(v.string(), v.trim(), v.minLength(1), v.maxLength(200));

/** Any JSON: `findMetadataFault` says what is wrong with it, key by key. A record schema would drop keys such as `__proto__` unsaid. */
export const metadataSchema = v.pipe(v.unknown(), v.title("Metadata"));

/** The most metadata keys that a session may have. */
export const maxMetadataKeys = 50;

const lineageSchema: v.GenericSchema<Lineage> = v.variant("origin", [
  v.object({
    origin: v.literal("delegated"),
    parentAgent: v.string(),
    parentSessionId: v.string(),
    parentCallId: v.string(),
  }),
  v.object({ origin: v.literal("forked"), sessionId: v.string(), throughSequence: v.number() }),
]);

/** The fields of a snapshot, for answers that spread one. */
export const snapshotEntries = {
  sessionId: v.string(),
  agent: v.string(),
  name: v.optional(v.string()),
  status: v.picklist(["active", "paused", "completed"]),
  metadata: metadataSchema,
  createdAt: v.string(),
  updatedAt: v.string(),
  runStatus: v.optional(
    v.picklist([
      "running",
      "waiting_for_client_action",
      "waiting_for_subagent",
      "paused",
      "completed",
      "failed",
      "stopped",
    ]),
  ),
  pendingClientActions: v.array(
    v.looseObject({
      callId: v.string(),
      name: v.string(),
      arguments: v.unknown(),
      expiresAt: v.optional(v.string()),
    }),
  ),
  lastOutput: v.optional(v.unknown()),
  lastError: v.optional(v.looseObject({ code: v.string(), message: v.string() })),
  usage: v.optional(usageSchema),
  totalUsage: v.optional(usageSchema),
  lineage: v.optional(lineageSchema),
  sequence: v.pipe(v.number(), v.integer(), v.minValue(1)),
};

export const sessionSnapshotSchema = v.looseObject(snapshotEntries);

/** Finds what is wrong with metadata: a path and a reason, or nothing. */
export function findMetadataFault(metadata: unknown): { path: Path; reason: string } | undefined {
  if (!isPlainObject(metadata)) return { path: [], reason: "must be an object" };
  const keys = Object.keys(metadata);
  if (keys.length > maxMetadataKeys) return { path: [], reason: `has ${keys.length} keys; at most ${maxMetadataKeys} fit` };
  for (const key of keys) {
    if (key.trim() === "") return { path: [key], reason: "has a blank key" };
    if (key.length > 200) return { path: [key.slice(0, 40)], reason: "has a key of more than 200 characters" };
    const value = metadata[key];
    const scalar = typeof value === "string" || typeof value === "boolean" || value === null;
    if (scalar || (typeof value === "number" && Number.isFinite(value))) continue;
    return { path: [key], reason: "must be a string, a finite number, a boolean or null" };
  }
  return undefined;
}

/** The calls of a log's event as a snapshot lists them. */
export function pendingOf(call: ClientActionCall): PendingClientAction {
  return {
    callId: call.callId,
    name: call.name,
    arguments: call.arguments ?? {},
    ...(call.expiresAt === undefined ? {} : { expiresAt: call.expiresAt }),
  };
}
