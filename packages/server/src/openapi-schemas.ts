import {
  agentMessageSchema,
  assistantContentSchema,
  errorTable,
  evaluationMetricSchema,
  eventDataSchemas,
  findingSchema,
  messageContentSchema,
  metadataSchema,
  recordedAnswerSchema,
  runResultSchema,
  sessionEventsSchema,
  sessionHistorySchema,
  sessionSnapshotSchema,
  storedItemSchema,
  tailFrameSchema,
  tailPieceSchema,
  toolResultContentSchema,
  usageSchema,
} from "@orcha/contract";
import * as v from "valibot";
import { outputSchemaOf } from "./input.ts";

/** A schema by the name that it has in the document. */
export type NamedSchemas = Readonly<Record<string, v.GenericSchema>>;

/** The alternatives of a union that a field tells apart, by the value of that field. */
export interface Discriminated {
  field: string;
  names: Readonly<Record<string, string>>;
}

const variantOf = (schema: unknown): readonly v.GenericSchema[] => (schema as { options: readonly v.GenericSchema[] }).options;

function literalsOf(schema: v.GenericSchema, field: string): readonly string[] {
  const { entries } = schema as unknown as { entries: Record<string, { literal?: string; options?: readonly string[] }> };
  const { literal, options = [] } = entries[field] ?? {};
  return literal === undefined ? options : [literal];
}

/** `client_action` → `ClientAction`. */
function pascal(name: string): string {
  return name.split(/[._]/).map((word) => word.charAt(0).toUpperCase() + word.slice(1)).join("");
}

const named = (schemas: readonly v.GenericSchema[], suffix: string, field = "type"): Record<string, v.GenericSchema> =>
  Object.fromEntries(schemas.map((schema) => [`${pascal(literalsOf(schema, field)[0] ?? "")}${suffix}`, schema]));

const items = named(variantOf(storedItemSchema), "Item");
const contents = named(variantOf(assistantContentSchema), "Content");
// Pictures, sounds, films and links are one schema.
const { ImageContent: media = v.unknown(), ...otherContents } = contents;
const messages = named(variantOf(eventDataSchemas["message.created"]), "MessageData", "role");

const eventBase = { sequence: v.pipe(v.number(), v.integer(), v.minValue(1)), v: v.number() };
const eventRest = { run: v.optional(v.number()), actor: v.optional(v.string()) };
const events = Object.fromEntries(
  [...Object.entries(eventDataSchemas), ["unreadable", v.object({ reason: v.string() })] as const].map(([type, data]) => [
    `${pascal(type)}Event`,
    v.object({ ...eventBase, type: v.literal(type), timestamp: v.string(), ...eventRest, data }),
  ]),
);

const runs = named(variantOf(runResultSchema), "Run", "status");
const frames = named(
  tailFrameSchema.options.map((frame) => ("item" in frame.entries ? v.object({ ...frame.entries, item: v.union(Object.values(items)) }) : frame)),
  "Frame",
);
const tailFrame = v.union(Object.values(frames));
const historyItem = v.union(Object.values(items));
const sessionEvent = v.union(Object.values(events));
const pendingClientAction = sessionSnapshotSchema.entries.pendingClientActions.item;
const codes = Object.keys(errorTable);

/** Every schema of the document with a name; one that appears inside another is referred to. */
export const namedSchemas: NamedSchemas = {
  SessionSnapshot: sessionSnapshotSchema,
  SessionHistory: v.object({ ...sessionHistorySchema.entries, items: v.array(historyItem) }),
  HistoryItem: historyItem,
  ...items,
  SessionEvents: v.object({ ...sessionEventsSchema.entries, events: v.array(sessionEvent) }),
  SessionEvent: sessionEvent,
  ...events,
  MessageData: eventDataSchemas["message.created"],
  ...messages,
  MessageContent: messageContentSchema,
  AssistantContent: assistantContentSchema,
  ...otherContents,
  MediaContent: media,
  ToolResultContent: toolResultContentSchema,
  AgentMessage: agentMessageSchema,
  Finding: findingSchema,
  Usage: usageSchema,
  EvaluationMetric: evaluationMetricSchema,
  PendingClientAction: pendingClientAction,
  Metadata: metadataSchema,
  AppendReceipt: outputSchemaOf("append"),
  RestoredSession: outputSchemaOf("restore"),
  RecordedAnswer: recordedAnswerSchema,
  TailFrame: tailFrame,
  ...frames,
  TailPiece: v.object({ ...tailPieceSchema.entries, frames: v.array(tailFrame) }),
  RunResult: v.union(Object.values(runs)),
  ...runs,
  SessionList: outputSchemaOf("list"),
  ErrorBody: v.object({
    code: v.picklist(codes),
    message: v.string(),
    retryable: v.boolean(),
    details: v.optional(v.looseObject({ path: v.optional(v.string()) })),
  }),
};

function discriminated(alternatives: NamedSchemas, field: string): Discriminated {
  const pairs = Object.entries(alternatives).flatMap(([name, schema]) =>
    literalsOf(schema, field).map((value) => [value, name] as const),
  );
  return { field, names: Object.fromEntries(pairs) };
}

const visible = { TextContent: otherContents["TextContent"] ?? media, MediaContent: media, FileContent: otherContents["FileContent"] ?? media };

/** The unions whose alternatives a field tells apart. */
export const discriminators: Readonly<Record<string, Discriminated>> = {
  HistoryItem: discriminated(items, "type"),
  SessionEvent: discriminated(events, "type"),
  MessageData: discriminated(messages, "role"),
  RunResult: discriminated(runs, "status"),
  TailFrame: discriminated(frames, "type"),
  MessageContent: discriminated(visible, "type"),
  AssistantContent: discriminated({ ...otherContents, MediaContent: media }, "type"),
};

/** What the names mean. */
export const descriptions: Readonly<Record<string, string>> = {
  SessionSnapshot: "A session at a glance, as of the request.",
  SessionHistory: "A page of what to render, oldest item first, with the session as of the request.",
  HistoryItem: "One item of a history; its `type` tells which. A newer server may send types that this document doesn't list.",
  SessionEvents: "A page of the canonical log, oldest event first, with the session as of the request.",
  SessionEvent:
    "One entry of a session's log; `sequence` is the only order there is. A log that was imported, or that a newer server wrote, may " +
    "hold types of events and of content that this document doesn't list.",
  MessageData: "A message as it was logged; what its content holds depends on the role.",
  MessageContent: "What a person sees in a message.",
  AssistantContent: "What an assistant message holds in the log: also reasoning and tool calls.",
  MediaContent: "Media by reference: the URI is stored and never opened.",
  AgentMessage: "One turn as a model sees it.",
  Finding: "What a check of a history found.",
  Usage: "Tokens that a model call cost.",
  PendingClientAction: "A client action that waits for its answer.",
  Metadata: "At most 50 keys of plain scalars.",
  UnreadableItem: "An item whose stored text is damaged; the page still comes.",
  AppendReceipt: "Where an append lies in the log.",
  RestoredSession: "The new session, and what had to be assumed.",
  TailFrame: "What a tail tells; its `type` tells which.",
  TailPiece: "Frames of a tail; `after` asks for the next piece.",
  RunResult: "How a run, or its part up to a pause, ended; its `status` tells which.",
  RecordedAnswer: "What a resume did: the answers are in the log, and what still waits is listed.",
  SessionList: "A page of sessions, the last changed first; without `nextCursor` it is the last one.",
  ErrorBody: "What every refusal looks like; `code` says what went wrong, `details.path` where.",
};

/** Schemas whose valibot form says less than is known: metadata is checked key by key. */
export function spelledOut(schema: unknown): Record<string, unknown> | undefined {
  if (schema !== metadataSchema) return undefined;
  return { type: "object", additionalProperties: { type: ["string", "number", "boolean", "null"] } };
}
