import { createHash } from "node:crypto";
import { writeBundle, type BundleSource } from "@orcha/formats";
import { describe, expect, test } from "vitest";
import { logOf } from "../arbitraries.ts";
import { readParts, refusalOf, textOf } from "./reading.ts";

function session(sessionId: string, texts: readonly string[]): BundleSource {
  const events = logOf(texts.map((text) => ({ type: "message.created", data: { role: "user", content: [{ type: "text", text }] } })));
  return { agent: "supportAgent", sessionId, events: events.length, bodies: events.map((event) => JSON.stringify(event)) };
}

function bundleOf(...sessions: BundleSource[]): Promise<string> {
  return textOf(writeBundle(sessions, "2026-05-05T08:00:00.000Z"));
}

/** The digest's rule, written down once more and by other means. */
function digestOf(lines: readonly string[]): string {
  const text = Buffer.from(lines.map((line) => `${line}\n`).join(""));
  let digest = Buffer.alloc(32);
  for (let at = 0; at < text.length; at += 65_536) {
    digest = createHash("sha256").update(digest).update(text.subarray(at, at + 65_536)).digest();
  }
  return digest.toString("hex");
}

describe("a bundle", () => {
  test("gives back what was written", async () => {
    const { read, findings } = await readParts(await bundleOf(session("ses_a", ["x", "y"]), session("ses_b", [])));
    expect(findings).toEqual([]);
    expect(read.map((part) => (part.type === "event" ? part.event.sequence : part.type))).toEqual(["session", 1, 2, 3, "session", 1, "end"]);
    expect(read.at(-1)).toEqual({ type: "end", line: 8, sessions: 2, events: 4 });
  });

  test("may be empty", async () => {
    expect((await readParts(await bundleOf())).read).toEqual([{ type: "end", line: 2, sessions: 0, events: 0 }]);
  });

  test("of many blocks has the digest that its description says", async () => {
    const text = await bundleOf(session("ses_a", ["é".repeat(40_000), "x".repeat(65_536), "y".repeat(200_000)]));
    const lines = text.trimEnd().split("\n");
    const { end } = JSON.parse(lines.at(-1) ?? "") as { end: { digest: string } };
    expect(end.digest).toBe(digestOf(lines.slice(0, -1)));
    expect((await readParts(text)).refused).toBeUndefined();
  });

  test("survives an editor that writes CRLF", async () => {
    const text = await bundleOf(session("ses_a", ["x"]));
    expect((await readParts(text.replaceAll("\n", "\r\n"))).refused).toBeUndefined();
  });

  test("with fewer events than it says is not written", async () => {
    await expect(bundleOf({ ...session("ses_a", ["x"]), events: 3 })).rejects.toThrow("session ses_a has 2 events, not 3");
  });

  test.each<[string, (lines: string[]) => string[], RegExp]>([
    ["a newer version", (lines) => lines.with(0, '{"format":"orcha-bundle","version":2}'), /^line 1: the bundle is of version 2; .*upgrade it$/],
    ["another file", (lines) => lines.slice(1), /^line 1: a bundle starts with/],
    ["a missing end", (lines) => lines.slice(0, -1), /^line 4: the bundle is cut off: its end is missing$/],
    ["a changed letter", (lines) => lines.with(3, (lines[3] ?? "").replace('"x"', '"z"')), /^line 5: the digest differs/],
    ["a line too many", (lines) => [...lines, "{}"], /^line 6: nothing may stand behind the end/],
    ["a missing event", (lines) => lines.toSpliced(3, 1), /^line 4: the sequence must be 2, not none$/],
    ["a missing session", (lines) => lines.toSpliced(1, 3), /^line 2: the bundle counts 1 sessions, and 0 are there$/],
    ["a repeated line", (lines) => lines.toSpliced(3, 0, lines[2] ?? ""), /^line 4: a bundle repeats no line$/],
  ])("is refused with %s", async (_name, change, message) => {
    const lines = (await bundleOf(session("ses_a", ["x"]))).trimEnd().split("\n");
    expect(await refusalOf(readParts(change(lines).join("\n")))).toMatch(message);
  });
});
