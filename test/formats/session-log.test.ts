import { messagesFromEvents, advance } from "@orcha/contract";
import { maxLineBytes, writeSessionLog } from "@orcha/formats";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { eventLogs } from "../arbitraries.ts";
import { corpusFile, readLog, refusalOf, textOf } from "./reading.ts";

const created =
  '{"sequence":1,"type":"session.created","timestamp":"2026-05-04T09:00:05.000Z","data":{"schemaVersion":1,"sessionId":"ses_a","agent":"deskBot","status":"active","metadata":{},"variables":{}}}';

function line(sequence: number, type: string, data: unknown, more: object = {}): string {
  return JSON.stringify({ sequence, type, timestamp: "2026-05-04T09:00:06.000Z", run: 1, data, ...more });
}

function says(sequence: number, text: string): string {
  return line(sequence, "message.created", { role: "user", content: [{ type: "text", text }] });
}

function codes({ findings }: Awaited<ReturnType<typeof readLog>>): string[] {
  return (findings ?? []).map(({ code, line: at }) => `${code}@${at}`);
}

describe("the corpus", () => {
  interface CorpusCase {
    expect: { events: number; history_items: { text?: string; status_not?: string[] }[]; replay_roles?: string[]; warnings?: string[]; line?: number };
  }

  test.each(["013-timestamps-equal-and-backwards", "019-torn-last-line", "023-crash-resume-no-rerun"])("%s", async (folder) => {
    const { expect: expected }: CorpusCase = JSON.parse(new TextDecoder().decode(corpusFile(folder, "case.json")));
    const { read, findings, refused } = await readLog(corpusFile(folder));
    expect(refused).toBeUndefined();
    expect(read).toHaveLength(expected.events);
    const { versions } = advance(undefined, new Map(), read);
    const items = [...new Map(versions.map(({ position, item }) => [position, item])).values()];
    expect(items).toHaveLength(expected.history_items.length);
    for (const [index, { text, status_not: not = [], ...fields }] of expected.history_items.entries()) {
      expect(items[index]).toMatchObject({ ...fields, ...(text === undefined ? {} : { content: [{ type: "text", text }] }) });
      expect(not).not.toContain((items[index] as { status?: string }).status);
    }
    const roles = messagesFromEvents(read).map(({ role }) => role);
    expect(roles).toEqual(expected.replay_roles ?? roles);
    for (const code of expected.warnings ?? []) expect(findings).toContainEqual(expect.objectContaining({ code, line: expected.line }));
    const texts = new TextDecoder().decode(corpusFile(folder)).split("\n");
    const stamps = texts.slice(0, read.length).map((text) => /"timestamp":"([^"]+)"/.exec(text)?.[1]);
    expect(read.map(({ timestamp }) => timestamp)).toEqual(stamps);
  });
});

describe("what passes", () => {
  test("a byte order mark, CRLF, blank lines, and line separators inside a string", async () => {
    const text = `\ufeff${created}\r\n\r\n  \n${says(2, "a\u2028b\u2029c")}\r\n\n`;
    const outcome = await readLog(text);
    expect(outcome.read).toHaveLength(2);
    expect(outcome.read[1]?.data).toMatchObject({ content: [{ text: "a\u2028b\u2029c" }] });
    expect(codes(outcome)).toEqual([]);
  });

  test("the last line without a line end", async () => {
    expect((await readLog(`${created}\n${says(2, "x")}`)).read).toHaveLength(2);
  });

  test("a line that repeats the one before is dropped, and found", async () => {
    const outcome = await readLog([created, says(2, "x"), says(2, "x"), "", says(3, "y")].join("\n"));
    expect(outcome.read.map(({ sequence }) => sequence)).toEqual([1, 2, 3]);
    expect(codes(outcome)).toEqual(["duplicate_line_dropped@3"]);
  });

  test("content of older shapes becomes blocks", async () => {
    const outcome = await readLog(
      [
        created,
        line(2, "message.created", { role: "user", content: "Hi" }),
        line(3, "message.created", {
          role: "assistant",
          content: [
            { type: "thinking", thinking: "hm", signature: "sig" },
            { type: "tool_use", id: "c1", name: "look", input: { a: 1 } },
          ],
        }),
        line(4, "message.created", { role: "tool", content: [{ type: "tool_result", tool_use_id: "c1", content: "ok", is_error: false }] }),
        line(5, "message.created", { role: "user", content: [{ type: "tool_result", tool_use_id: "c1", content: "ok" }] }),
      ].join("\n"),
    );
    expect(outcome.refused).toBeUndefined();
    expect(outcome.read.at(-1)?.data).toEqual({ role: "tool", content: [{ callId: "c1", output: "ok" }] });
    expect(outcome.read.slice(1).map(({ data }) => (data as { content: unknown }).content)).toEqual([
      [{ type: "text", text: "Hi" }],
      [
        { type: "reasoning", text: "hm", replay: { providerId: "anthropic", opaqueData: { signature: "sig" } } },
        { type: "tool_call", callId: "c1", name: "look", arguments: { a: 1 } },
      ],
      [{ callId: "c1", output: "ok", isError: false }],
      [{ callId: "c1", output: "ok" }],
    ]);
    expect(codes(outcome)).toEqual(["content_lifted@2", "content_lifted@3", "content_lifted@4", "content_lifted@5"]);
  });

  test("a loaded skill without a name gets that of its request", async () => {
    const outcome = await readLog(
      [
        created,
        line(2, "skill.requested", { callId: "s1", name: "triage" }),
        line(3, "skill.loaded", { callId: "s1", alreadyLoaded: false }),
        line(4, "skill.loaded", { alreadyLoaded: false }),
      ].join("\n"),
    );
    expect(outcome.read.map(({ data }) => (data as { name?: string }).name)).toEqual([undefined, "triage", "triage", "unnamed_skill"]);
    expect(codes(outcome)).toEqual(["skill_name_filled@3", "skill_name_filled@4"]);
  });

  test("types, blocks and fields that this version doesn't know stay", async () => {
    const future = line(2, "test.warning", { code: "live_actions", nested: { a: [1] } }, { host: "a" });
    const block = line(3, "message.created", { role: "assistant", content: [{ type: "hologram", url: "x" }], region: "eu" });
    const outcome = await readLog([created, future, block].join("\n"));
    expect(outcome.read[1]).toEqual({ v: 1, ...(JSON.parse(future) as object) });
    expect(outcome.read[2]).toEqual({ v: 1, ...(JSON.parse(block) as object) });
    expect(codes(outcome)).toEqual(["unknown_event_kept@2", "unknown_block_kept@3"]);
  });

  test("numbers that JavaScript rounds are found", async () => {
    const outcome = await readLog([created, line(2, "x.y", { id: 1 }).replace('"id":1', '"id":9007199254740993,"t":"9007199254740993"')].join("\n"));
    expect(codes(outcome)).toEqual(["number_rounded@2", "unknown_event_kept@2"]);
  });

  test.each([
    ["9007199254740993", true],
    ["-12345678901234567890", true],
    ["0.12345678901234567890", true],
    ["9007199254740994", false],
    ["1180591620717411303424", false],
    ["1247499820000860200", false],
    ["0.9589242746631385", false],
    ["1.7976931348623157e+308", false],
    ["1.500000000000000000", false],
  ])("the number %s is rounded: %s", async (number, isRounded) => {
    const outcome = await readLog([created, line(2, "x.y", { id: 1 }).replace('"id":1', `"id":${number}`)].join("\n"));
    expect(codes(outcome)).toEqual([...(isRounded ? ["number_rounded@2"] : []), "unknown_event_kept@2"]);
  });

  test("a long text with digits in it", async () => {
    const text = `${"x".repeat(12 * 1_048_576)}9007199254740993\n`;
    const outcome = await readLog([created, says(2, text)].join("\n"));
    expect(outcome.read).toHaveLength(2);
    expect(codes(outcome)).toEqual([]);
  });

  test("many findings of one code are counted, and few are kept", async () => {
    const back = Array.from({ length: 500 }, (_, index) =>
      line(index + 2, "x.y", {}, { timestamp: new Date(Date.UTC(2020, 0, 1) - index * 1000).toISOString() }),
    );
    expect(codes(await readLog([created, ...back].join("\n")))).toHaveLength(40);
  });

  test("any log of ours, cut into pieces of any size, as bytes and as text", async () => {
    await fc.assert(
      fc.asyncProperty(eventLogs(), fc.integer({ min: 1, max: 50 }), fc.boolean(), async (events, size, asText) => {
        const text = await textOf(writeSessionLog(events));
        const whole = asText ? text : new TextEncoder().encode(text);
        const pieces = Array.from({ length: Math.ceil(whole.length / size) }, (_, index) => whole.slice(index * size, (index + 1) * size));
        const outcome = await readLog(pieces);
        expect(outcome.refused).toBeUndefined();
        // JSON writes -0 as 0.
        expect(outcome.read).toEqual(JSON.parse(JSON.stringify(events)));
      }),
    );
  });
});

describe("what is refused, with the line and the reason", () => {
  const cases: [name: string, text: string | Uint8Array, message: RegExp][] = [
    ["nothing", "", /^line 1: the file holds no event$/],
    ["blank lines only", "\n\n", /^line 2: the file holds no event$/],
    ["a torn first line", created.slice(0, 50), /^line 1: is not JSON, and no whole event comes before$/],
    ["another first event", says(1, "x"), /^line 1: a log starts with session\.created$/],
    ["damage in the middle", [created, '{"sequence":2,', says(2, "x")].join("\n"), /^line 2: is not JSON$/],
    ["a last line that is whole and no JSON", `${created}\n{"sequ\n`, /^line 2: is not JSON$/],
    ["two records on one line", [created, `${says(2, "x")}${says(3, "y")}`, ""].join("\n"), /^line 2: is not JSON$/],
    ["no object", `${created}\n[1]\n`, /^line 2: is not a JSON object$/],
    ["a hole", [created, says(3, "x")].join("\n"), /^line 2: the sequence must be 2, not 3$/],
    ["an older sequence", [created, says(2, "x"), says(3, "y"), says(2, "x")].join("\n"), /^line 4: the sequence must be 4, not 2$/],
    ["one sequence, two events", [created, says(2, "x"), "", says(2, "y")].join("\n"), /^line 4: .* not 2, and it isn't the same event/],
    ["a sequence in quotes", [created, says(2, "x").replace(":2,", ':"2",')].join("\n"), /^line 2: the sequence must be 2, not "2"$/],
    ["a sequence of endless depth", `${created}\n{"sequence":${"[".repeat(100_000)}${"]".repeat(100_000)}}\n`, /^line 2: sequence(\[0\])+ /],
    ["a second beginning", [created, created.replace(":1,", ":2,")].join("\n"), /^line 2: session\.created stands only at the start/],
    ["a time that is none", [created, line(2, "x.y", {}, { timestamp: "yesterday" })].join("\n"), /^line 2: timestamp: must be an ISO time/],
    ["no data", [created, line(2, "x.y", 1)].join("\n"), /^line 2: data must be an object$/],
    ["a message without content", [created, line(2, "message.created", { role: "user" })].join("\n"), /^line 2: data\.content: /],
    ["a number that no double holds", [created, line(2, "x.y", { a: 1 }).replace('"a":1', '"a":1e400')].join("\n"), /^line 2: data\.a is Infinity/],
    ["metadata of objects", created.replace('"metadata":{}', '"metadata":{"a":{}}'), /^line 1: data\.metadata\.a must be a string/],
    ["a newer event", [created, line(2, "run.started", {}, { v: 2 })].join("\n"), /^line 2: the event is of version 2; .* upgrade it$/],
    ["bytes that are no UTF-8", Uint8Array.from([...new TextEncoder().encode(`${created}\n`), 0xff, 0x0a]), /^line 2: is not UTF-8$/],
    ["an endless line", "x".repeat(maxLineBytes + 1), /^line 1: is longer than 16 MiB$/],
  ];
  test.each(cases)("%s", async (_name, text, message) => {
    expect(await refusalOf(readLog(text))).toMatch(message);
  });
});
