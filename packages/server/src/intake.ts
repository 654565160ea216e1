import {
  eventDataSchemas,
  exceedsBytes,
  formatPath,
  invalidInput,
  isEventType,
  isPlainObject,
  maxAppend,
  maxDataUriLength,
  maxTextBytes,
  OrchaError,
  timestampSchema,
  type EventInput,
  type EventOf,
  type EventType,
  type Path,
} from "@orcha/contract";
import * as v from "valibot";

const envelopeKeys = ["type", "data", "timestamp", "run"];

/** What a server says of work of its own, and goes on with: with these, whoever may write could have it run an agent. */
const ownFields: { readonly [T in EventType]?: readonly string[] } = {
  "run.started": ["host", "fence"],
  "evaluation.requested": ["expiresAt", "attempt"],
};

/** Checks events that a caller appends. Throws `invalid_input` with the path of the first fault. */
export function readEvents(events: readonly unknown[]): EventInput[] {
  checkCount(events.length, "events");
  return events.map((event, index) => readEvent(event, ["events", index]));
}

/** Throws where an append is empty, or larger than one may be. */
export function checkCount(count: number, field: string): void {
  if (count === 0) throw invalidInput([field], "must hold at least one");
  if (count <= maxAppend) return;
  throw new OrchaError("payload_too_large", `${field} holds ${count}; one append takes at most ${maxAppend}`, {
    details: { path: field, limit: maxAppend },
  });
}

function readEvent(event: unknown, path: Path): EventInput {
  if (!isPlainObject(event)) throw invalidInput(path, "must be an object");
  for (const key of Object.keys(event)) {
    if (key === "sequence") throw invalidInput([...path, key], "is given by the store");
    if (!envelopeKeys.includes(key)) throw invalidInput([...path, key], `is unknown; an event has ${envelopeKeys.join(", ")}`);
  }
  const { type, data, timestamp, run } = event;
  if (typeof type !== "string") throw invalidInput([...path, "type"], "must be a string");
  if (type.startsWith("session.")) throw invalidInput([...path, "type"], "belongs to the server: session.* can't be appended");
  if (!isEventType(type)) throw invalidInput([...path, "type"], `is unknown: ${JSON.stringify(type.slice(0, 80))}`);
  if (!isPlainObject(data)) throw invalidInput([...path, "data"], "must be an object");
  checkSchema(eventDataSchemas[type], data, [...path, "data"]);
  const own = ownFields[type]?.find((field) => data[field] !== undefined);
  if (own !== undefined) throw invalidInput([...path, "data", own], "belongs to the server: leave it out of what runs elsewhere");
  if (timestamp !== undefined) checkSchema(timestampSchema, timestamp, [...path, "timestamp"]);
  if (run !== undefined && !(Number.isSafeInteger(run) && Number(run) >= 1)) {
    throw invalidInput([...path, "run"], "must be an integer from 1");
  }
  // The schemas have no transforms, so what they accepted is used as it came: they'd drop keys such as `__proto__`.
  const input = event as unknown as EventInput;
  if (input.type === "message.created") checkContent(input.data, [...path, "data", "content"]);
  if (input.type === "client_action.requested") checkDistinct(input.data.calls, [...path, "data", "calls"]);
  if (input.type === "client_action.resolved") checkDistinct(input.data.results, [...path, "data", "results"]);
  return input;
}

function checkSchema(schema: v.GenericSchema, value: unknown, path: Path): void {
  const result = v.safeParse(schema, value, { abortEarly: true });
  const issue = result.issues?.[0];
  if (issue) throw invalidInput([...path, ...issuePath(issue.path)], issueReason(issue));
}

/** The path of a schema's issue, as far as keys can be printed. */
export function issuePath(path: readonly { key: unknown }[] | undefined): Path {
  return (path ?? []).map(({ key }) => (typeof key === "number" ? key : String(key)));
}

/** What is wrong by a schema's issue: keys that are missing or too many are told as whoever sent them sees it. */
export function issueReason({ message, expected, received }: { message: string; expected?: unknown; received?: unknown }): string {
  if (expected === "never") return "is unknown: this call has no such field";
  // JSON has no undefined.
  return received === "undefined" ? "is missing" : message;
}

function checkContent({ role, content }: EventOf<"message.created">["data"], path: Path): void {
  if (role === "tool") return;
  for (const [index, block] of content.entries()) {
    if ("text" in block) checkText(block.text, [...path, index, "text"]);
    if ("fileUri" in block && block.fileUri.length > maxDataUriLength) {
      throw tooLarge([...path, index, "fileUri"], `${maxDataUriLength} characters`);
    }
  }
}

/** Throws `payload_too_large` for a text of more than 1 MiB. */
export function checkText(text: string, path: Path): void {
  if (exceedsBytes(text, maxTextBytes)) throw tooLarge(path, "1 MiB");
}

function tooLarge(path: Path, limit: string): OrchaError {
  const at = formatPath(path);
  return new OrchaError("payload_too_large", `${at} is longer than ${limit}`, { details: { path: at } });
}

function checkDistinct(entries: readonly { callId: string }[], path: Path): void {
  const seen = new Set<string>();
  for (const [index, { callId }] of entries.entries()) {
    if (seen.has(callId)) throw invalidInput([...path, index, "callId"], "repeats an earlier one");
    seen.add(callId);
  }
}
