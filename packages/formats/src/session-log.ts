import type { SessionEvent } from "@orcha/contract";
import { FormatError } from "./error.ts";
import type { FormatFindings } from "./finding.ts";
import { isBlank, parseLine } from "./json-line.ts";
import { readLines, type Line, type Source } from "./lines.ts";
import { SessionEvents } from "./session-events.ts";

/**
 * Reads one session's log, an event a line, as OrchaJS and `writeSessionLog` write it. A writer that dies can tear its
 * last line only: that one is dropped and found; damage anywhere else throws `FormatError` with line and reason.
 */
export async function* readSessionLog(source: Source, findings: FormatFindings): AsyncGenerator<SessionEvent> {
  const events = new SessionEvents(findings);
  let last = 1;
  for await (const line of readLines(source)) {
    last = line.number;
    if (isBlank(line)) continue;
    const parsed = parseLine(line);
    if ("reason" in parsed) {
      dropTail(line, parsed.reason, events.sequence, findings);
      continue;
    }
    const event = events.next(parsed.value, line.text ?? "", line.number);
    if (event) yield event;
  }
  if (events.sequence === 0) throw new FormatError(last, "the file holds no event");
}

/** Only what no LF ends can be a torn write; anything whole that can't be read is damage. */
function dropTail(line: Line, reason: string, sequence: number, findings: FormatFindings): void {
  if (line.isEnded) throw new FormatError(line.number, reason);
  if (sequence === 0) throw new FormatError(line.number, `${reason}, and no whole event comes before`);
  findings.add({
    severity: "warning",
    code: "torn_tail_dropped",
    line: line.number,
    message: `the last line ${reason}: its write was cut off`,
    fix: `dropped; the log ends with event ${sequence}`,
  });
}

/** Writes one session's log, an event a line. */
export async function* writeSessionLog(
  events: AsyncIterable<SessionEvent | string> | Iterable<SessionEvent | string>,
): AsyncGenerator<string> {
  for await (const event of events) yield `${typeof event === "string" ? event : JSON.stringify(event)}\n`;
}
