import type { SessionEvent } from "@orcha/contract";
import { FormatError } from "./error.ts";
import { EventReader } from "./event.ts";
import type { FormatFindings } from "./finding.ts";
import { checkStorable, roundedNumber } from "./json-line.ts";

/**
 * Reads one session's events line by line and holds them to the log's rule: `session.created` first, then 1, 2, 3…
 * without a hole. A line that repeats the one before it word for word is dropped; time stamps may say what they like.
 */
export class SessionEvents {
  private readonly findings: FormatFindings;
  private readonly events: EventReader;
  private last: { text: string; timestamp: string } | undefined;
  /** How many events were read. */
  sequence = 0;

  constructor(findings: FormatFindings) {
    this.findings = findings;
    this.events = new EventReader(findings);
  }

  /** Reads one line; nothing where it repeats the one before. Throws `FormatError`. */
  next(raw: Record<string, unknown>, text: string, line: number): SessionEvent | undefined {
    if (text === this.last?.text) {
      const message = `the line repeats event ${this.sequence} word for word`;
      this.findings.add({ severity: "warning", code: "duplicate_line_dropped", line, message, fix: "dropped" });
      return undefined;
    }
    checkStorable(raw, line);
    this.checkPlace(raw, line);
    const rounded = roundedNumber(text);
    if (rounded !== undefined) {
      const message = `the number ${rounded} has more digits than JSON numbers keep here`;
      this.findings.add({ severity: "warning", code: "number_rounded", line, message, fix: `rounded to ${Number(rounded)}` });
    }
    const event = this.events.read(raw, line);
    this.checkTime(event, line);
    this.sequence += 1;
    this.last = { text, timestamp: event.timestamp };
    return event;
  }

  private checkPlace({ sequence, type }: Record<string, unknown>, line: number): void {
    const expected = this.sequence + 1;
    if (sequence !== expected) {
      const found = sequence === undefined ? "none" : JSON.stringify(sequence).slice(0, 40);
      const hint = sequence === this.sequence ? `, and it isn't the same event as the line before` : "";
      throw new FormatError(line, `the sequence must be ${expected}, not ${found}${hint}`);
    }
    if (expected === 1 && type !== "session.created") throw new FormatError(line, "a log starts with session.created");
    if (expected > 1 && type === "session.created") throw new FormatError(line, "session.created stands only at the start of a log");
  }

  private checkTime({ timestamp }: SessionEvent, line: number): void {
    if (this.last === undefined || Date.parse(timestamp) >= Date.parse(this.last.timestamp)) return;
    const message = `the time stamp ${timestamp} lies before ${this.last.timestamp}`;
    const fix = "kept, and so is the order: it is the sequence's";
    this.findings.add({ severity: "info", code: "timestamp_not_monotonic", line, message, fix });
  }
}
