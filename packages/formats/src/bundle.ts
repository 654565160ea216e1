import type { SessionEvent } from "@orcha/contract";
import { ChainedDigest } from "./digest.ts";
import { FormatError } from "./error.ts";
import type { FormatFindings } from "./finding.ts";
import { isBlank, parseLine } from "./json-line.ts";
import { readLines, type Source } from "./lines.ts";
import { SessionEvents } from "./session-events.ts";

/*
 * A bundle, line by line:
 *
 *   { "format": "orcha-bundle", "version": 1, "createdAt": "…" }
 *   { "session": { "agent": "…", "sessionId": "…", "events": 3 } }      once for each session, then
 *   { "sequence": 1, … }                                               as many lines as it has events
 *   { "end": { "sessions": 1, "events": 3, "digest": "…" } }           nothing but blank lines behind it
 *
 * The digest is that of `ChainedDigest` over every line before the last, without CR, LF and blank lines.
 */

/** The version that is written, and the newest one that is read. */
export const bundleVersion = 1;

/** A session as a bundle announces it. */
export interface BundleSession {
  agent: string;
  sessionId: string;
  /** How many events follow. */
  events: number;
}

/** What a bundle holds, in order. After `end`, and only then, its content is known to be whole. */
export type BundlePart =
  | { type: "session"; line: number; session: BundleSession }
  | { type: "event"; line: number; event: SessionEvent }
  | { type: "end"; line: number; sessions: number; events: number };

/** Reads a bundle. Throws `FormatError` for one that is cut, changed or newer than this version. */
export async function* readBundle(source: Source, findings: FormatFindings): AsyncGenerator<BundlePart> {
  const digest = new ChainedDigest();
  const counts = { sessions: 0, events: 0 };
  let state: "header" | "session" | "end" = "header";
  let left = 0;
  let events = new SessionEvents(findings);
  let last = 1;

  for await (const line of readLines(source)) {
    last = line.number;
    if (isBlank(line)) continue;
    const parsed = parseLine(line);
    if ("reason" in parsed) throw new FormatError(line.number, parsed.reason);
    const { value } = parsed;
    if (state === "end") throw new FormatError(line.number, "nothing may stand behind the end of a bundle");
    if (left > 0) {
      const event = events.next(value, line.text ?? "", line.number);
      if (!event) throw new FormatError(line.number, "a bundle repeats no line");
      left -= 1;
      counts.events += 1;
      yield { type: "event", line: line.number, event };
    } else if (state === "header") {
      readHeader(value, line.number);
      state = "session";
    } else if ("end" in value) {
      await checkEnd(value["end"], { ...counts, digest: await digest.end() }, line.number);
      state = "end";
      yield { type: "end", line: line.number, ...counts };
      continue;
    } else {
      const session = readSession(value["session"], line.number);
      left = session.events;
      events = new SessionEvents(findings);
      counts.sessions += 1;
      yield { type: "session", line: line.number, session };
    }
    await digest.addLine(line.text ?? "");
  }
  if (state !== "end") throw new FormatError(last, "the bundle is cut off: its end is missing");
}

function readHeader({ format, version }: Record<string, unknown>, line: number): void {
  if (format !== "orcha-bundle") throw new FormatError(line, 'a bundle starts with { "format": "orcha-bundle", … }', "unsupported");
  if (!Number.isSafeInteger(version) || Number(version) < 1) throw new FormatError(line, "version must be an integer from 1");
  if (version === bundleVersion) return;
  const reason = `the bundle is of version ${String(version)}; this Orcha reads up to ${bundleVersion}: upgrade it`;
  throw new FormatError(line, reason, "unsupported");
}

function readSession(session: unknown, line: number): BundleSession {
  const { agent, sessionId, events } = (session ?? {}) as { [K in keyof BundleSession]?: unknown };
  if (typeof agent === "string" && typeof sessionId === "string" && Number.isSafeInteger(events) && Number(events) >= 1) {
    return { agent, sessionId, events: Number(events) };
  }
  throw new FormatError(line, "a session's header with agent, sessionId and events must stand here");
}

async function checkEnd(end: unknown, counted: Record<string, unknown>, line: number): Promise<void> {
  const said = (end ?? {}) as Record<string, unknown>;
  for (const field of ["sessions", "events"]) {
    if (said[field] === counted[field]) continue;
    throw new FormatError(line, `the bundle counts ${String(said[field])} ${field}, and ${String(counted[field])} are there`);
  }
  if (said["digest"] !== counted["digest"]) throw new FormatError(line, "the digest differs: the bundle was changed");
}

/** A session to write: its header, and exactly `events` of its stored events. */
export interface BundleSource extends BundleSession {
  bodies: AsyncIterable<string> | Iterable<string>;
}

/** Writes a bundle, a line at a time. Throws `TypeError` where a session has not as many events as it says. */
export async function* writeBundle(
  sessions: AsyncIterable<BundleSource> | Iterable<BundleSource>,
  createdAt: string,
): AsyncGenerator<string> {
  const digest = new ChainedDigest();
  const counts = { sessions: 0, events: 0 };
  async function line(text: string): Promise<string> {
    await digest.addLine(text);
    return `${text}\n`;
  }

  yield line(JSON.stringify({ format: "orcha-bundle", version: bundleVersion, createdAt }));
  for await (const { bodies, ...session } of sessions) {
    yield line(JSON.stringify({ session }));
    let written = 0;
    for await (const body of bodies) {
      written += 1;
      yield line(body);
    }
    if (written !== session.events) throw new TypeError(`session ${session.sessionId} has ${written} events, not ${session.events}`);
    counts.sessions += 1;
    counts.events += written;
  }
  yield `${JSON.stringify({ end: { ...counts, digest: await digest.end() } })}\n`;
}
