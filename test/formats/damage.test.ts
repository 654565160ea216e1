import { isDeepStrictEqual } from "node:util";
import type { SessionEvent } from "@orcha/contract";
import { writeBundle, writeSessionLog } from "@orcha/formats";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { eventLogs } from "../arbitraries.ts";
import { corpusFile, readLog, readParts, textOf, type Outcome } from "./reading.ts";

/** Every way that one byte of a file may be damaged. */
function* damaged(bytes: Uint8Array): Generator<{ at: number; bytes: Uint8Array }> {
  for (let at = 0; at < bytes.length; at += 1) {
    for (const bit of [0x01, 0x04, 0x20, 0x80]) yield { at, bytes: Uint8Array.from(bytes, (byte, index) => (index === at ? byte ^ bit : byte)) };
    yield { at, bytes: Uint8Array.from([...bytes.subarray(0, at), ...bytes.subarray(at + 1)]) };
    for (const byte of [0x0a, 0x22, 0x7d, 0x30, 0x00, 0xff]) {
      yield { at, bytes: Uint8Array.from([...bytes.subarray(0, at), byte, ...bytes.subarray(at)]) };
    }
    yield { at, bytes: bytes.slice(0, at) };
  }
}

function lineOf(bytes: Uint8Array, at: number): number {
  return bytes.subarray(0, at).reduce((count, byte) => count + (byte === 0x0a ? 1 : 0), 1);
}

/**
 * Says what is wrong with what became of a damaged log; nothing where all is well. A log carries no digest, so a letter
 * that changed inside a string can't be known, nor that a log ended behind a whole line. What must hold: whatever was
 * accepted is the undamaged log or a beginning of it, but for the event of the damaged line; and where it is shorter,
 * that is found, or the file ends there.
 */
function faultOf({ read, refused, findings }: Outcome<SessionEvent>, original: readonly SessionEvent[], line: number, isCut: boolean): string | undefined {
  if (refused) return refused.line >= 1 && refused.reason !== "" ? undefined : "refused without line and reason";
  if (read.length > original.length) return "more events than before";
  const other = read.findIndex((event, index) => index !== line - 1 && !isDeepStrictEqual(event, original[index]));
  if (other !== -1) return `event ${other + 1} differs, and the damage is on line ${line}`;
  if (read.length === original.length || isCut) return undefined;
  return findings.some(({ code }) => code === "torn_tail_dropped") ? undefined : "events are missing, and nothing was found";
}

describe("damage at every byte", () => {
  test("of a session log", async () => {
    const faults: string[] = [];
    const bytes = corpusFile("019-torn-last-line");
    for (const file of [bytes, bytes.slice(0, bytes.lastIndexOf(0x0a) + 1)]) {
      const original = await readLog(file);
      for (const { at, bytes: changed } of damaged(file)) {
        const isCut = changed.length === at;
        const fault = faultOf(await readLog(changed), original.read, lineOf(file, at), isCut);
        if (fault !== undefined) faults.push(`byte ${at}: ${fault}`);
      }
    }
    expect(faults).toEqual([]);
  }, 60_000);

  test("of a bundle: it is refused, or equal", async () => {
    const events = (await readLog(corpusFile("019-torn-last-line"))).read.slice(0, 3);
    const sessions = ["ses_a", "ses_b"].map((sessionId) => ({
      agent: "deskBot",
      sessionId,
      events: events.length,
      bodies: events.map((event) => JSON.stringify(event)),
    }));
    const file = new TextEncoder().encode(await textOf(writeBundle(sessions, "2026-05-05T08:00:00.000Z")));
    const contents = ({ read }: Awaited<ReturnType<typeof readParts>>) => read.map((part) => ({ ...part, line: 0 }));
    const original = await readParts(file);
    const accepted: unknown[] = [];
    for (const { bytes: changed } of damaged(file)) {
      const outcome = await readParts(changed);
      if (!outcome.refused) accepted.push(contents(outcome));
    }
    expect(original.refused).toBeUndefined();
    for (const read of accepted) expect(read).toEqual(contents(original));
    // The digest doesn't cover line ends: an LF too many before or behind each of ten others, and none at the end.
    expect(accepted.length).toBeLessThan(40);
  }, 60_000);

  test("a log of any events, cut anywhere, is a beginning of itself or refused", async () => {
    await fc.assert(
      fc.asyncProperty(eventLogs({ maxLength: 6 }), fc.double({ min: 0, max: 1, noNaN: true }), async (events, share) => {
        const bytes = new TextEncoder().encode(await textOf(writeSessionLog(events)));
        const written: SessionEvent[] = JSON.parse(JSON.stringify(events));
        const { read, refused } = await readLog(bytes.slice(0, Math.floor(bytes.length * share)));
        expect(read).toEqual(written.slice(0, read.length));
        expect(refused === undefined).toBe(read.length > 0);
      }),
    );
  });
});
