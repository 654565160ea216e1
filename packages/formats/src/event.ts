import {
  eventDataSchemas,
  eventVersion,
  findMetadataFault,
  formatPath,
  isEventType,
  isPlainObject,
  timestampSchema,
  type EventType,
  type Path,
  type SessionEvent,
} from "@orcha/contract";
import * as v from "valibot";
import { FormatError } from "./error.ts";
import type { FormatFindingCode, FormatFindings } from "./finding.ts";
import { fillCreated, liftMessage, withoutPartialUsage } from "./lift.ts";

type Data = Record<string, unknown>;

/** Reads the events of one session, each on its own: envelope, data, and what older writers left out. */
export class EventReader {
  private readonly findings: FormatFindings;
  /** Names of the skills that were asked for: `skill.loaded` may come without one. */
  private readonly skills = new Map<string, string>();

  constructor(findings: FormatFindings) {
    this.findings = findings;
  }

  /** Makes an event of a line's object. Throws `FormatError` for what no reader of the log could use. */
  read(raw: Data, line: number): SessionEvent {
    const { type, timestamp, run, actor, data } = raw;
    if (typeof type !== "string" || type === "") throw new FormatError(line, "type must be a string");
    check(timestampSchema, timestamp, ["timestamp"], line);
    if (run !== undefined && !isCount(run)) throw new FormatError(line, "run must be an integer from 1");
    if (actor !== undefined && typeof actor !== "string") throw new FormatError(line, "actor must be a string");
    if (!isPlainObject(data)) throw new FormatError(line, "data must be an object");
    const { v: version = eventVersion } = raw;
    if (!isCount(version)) throw new FormatError(line, "v must be an integer from 1");

    let read = data;
    if (!isEventType(type)) this.found("unknown_event_kept", line, `events of type ${JSON.stringify(type.slice(0, 80))} are kept as they are`);
    else {
      if (version > eventVersion) {
        const reason = `the event is of version ${version}; this Orcha reads up to ${eventVersion}: upgrade it`;
        throw new FormatError(line, reason, "unsupported");
      }
      read = this.lift(type, data, line);
      this.checkData(type, read, line);
    }
    // Spread, so that fields which this version doesn't know stay; `v` stands where a writer of ours puts it.
    const { sequence, v: _v, ...rest } = raw;
    // What the schemas accepted is what the types say; unknown types pass as they do from a store.
    return { sequence, v: version, ...rest, data: read } as unknown as SessionEvent;
  }

  private lift(type: EventType, data: Data, line: number): Data {
    const usable = withoutPartialUsage(data);
    if (usable) this.changed("usage_dropped", line, "the usage lacks some of its fields", "left out: it counts only whole");
    const read = usable ?? data;
    switch (type) {
      case "session.created": {
        const filled = fillCreated(read);
        if (filled) this.found("created_fields_filled", line, "fields that session.created lacks are filled in");
        return filled ?? read;
      }
      case "message.created": {
        const lifted = liftMessage(read);
        if (lifted) this.changed("content_lifted", line, "the content has an older shape", "written as today's blocks");
        return lifted ?? read;
      }
      case "skill.requested":
        if (typeof read["callId"] === "string" && typeof read["name"] === "string") this.skills.set(read["callId"], read["name"]);
        return read;
      case "skill.loaded":
      case "skill.failed":
        return this.nameSkill(read, line);
      default:
        return read;
    }
  }

  private nameSkill(data: Data, line: number): Data {
    const callId = typeof data["callId"] === "string" ? data["callId"] : "";
    const asked = this.skills.get(callId);
    this.skills.delete(callId);
    if (typeof data["name"] === "string" && data["name"] !== "") return data;
    const name = asked ?? "unnamed_skill";
    this.changed("skill_name_filled", line, "the skill has no name", `named ${JSON.stringify(name)}`);
    return { ...data, name };
  }

  private checkData(type: EventType, data: Data, line: number): void {
    if (type === "message.created" && Array.isArray(data["content"])) {
      const known = (data["content"] as unknown[]).filter((block) => !this.isUnknownBlock(block, line));
      check(eventDataSchemas[type], { ...data, content: known }, ["data"], line);
      return;
    }
    check(eventDataSchemas[type], data, ["data"], line);
    if (type === "session.created" || type === "session.updated") checkSession(data, line);
  }

  private isUnknownBlock(block: unknown, line: number): boolean {
    const type = isPlainObject(block) ? block["type"] : undefined;
    if (typeof type !== "string" || knownBlocks.has(type)) return false;
    this.found("unknown_block_kept", line, `blocks of type ${JSON.stringify(type.slice(0, 80))} are kept as they are`);
    return true;
  }

  private found(code: FormatFindingCode, line: number, message: string): void {
    this.findings.add({ severity: "info", code, line, message });
  }

  private changed(code: FormatFindingCode, line: number, message: string, fix: string): void {
    this.findings.add({ severity: "info", code, line, message, fix });
  }
}

const knownBlocks = new Set(["text", "image", "video", "audio", "url", "file", "reasoning", "tool_call"]);

/** What the session's own row is made of must be right, whoever wrote it. */
function checkSession(data: Data, line: number): void {
  const { name, metadata, unset, lineage } = data;
  if (name !== undefined && name !== null && typeof name !== "string") throw new FormatError(line, "data.name must be a string");
  if (unset !== undefined) check(v.array(v.string()), unset, ["data", "unset"], line);
  if (lineage !== undefined) check(lineageSchema, lineage, ["data", "lineage"], line);
  const fault = metadata === undefined ? undefined : findMetadataFault(metadata);
  if (fault) throw new FormatError(line, `${formatPath(["data", "metadata", ...fault.path])} ${fault.reason}`);
}

const lineageSchema = v.variant("origin", [
  v.looseObject({
    origin: v.literal("delegated"),
    parentAgent: v.string(),
    parentSessionId: v.string(),
    parentCallId: v.string(),
  }),
  v.looseObject({ origin: v.literal("forked"), sessionId: v.string(), throughSequence: v.number() }),
]);

function isCount(value: unknown): value is number {
  return Number.isSafeInteger(value) && Number(value) >= 1;
}

function check(schema: v.GenericSchema, value: unknown, path: Path, line: number): void {
  const issue = v.safeParse(schema, value, { abortEarly: true }).issues?.[0];
  if (!issue) return;
  const inner = (issue.path ?? []).map(({ key }): string | number => (typeof key === "number" ? key : String(key)));
  throw new FormatError(line, `${formatPath([...path, ...inner])}: ${issue.message}`);
}
