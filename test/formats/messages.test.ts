import { detectFormat, readMessages, writeMessages } from "@orcha/formats";
import { validateHistory } from "@orcha/contract";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { agentMessages } from "../arbitraries.ts";
import { corpusFile, textOf } from "./reading.ts";

describe("a file of messages", () => {
  test("is checked as a restored history is", async () => {
    const { messages, findings } = await readMessages([corpusFile("007-tool-message-without-name", "input.json")]);
    expect(messages).toHaveLength(4);
    expect(findings.map(({ code }) => code)).toContain("tool_name_backfilled");
    await expect(readMessages([corpusFile("001-orphan-after-trim", "input.json")])).rejects.toThrow('orphaned tool_call_id "call_stock_1"');
  });

  test("gives back what was written", async () => {
    await fc.assert(
      fc.asyncProperty(agentMessages(), async (history) => {
        const { messages } = validateHistory(history);
        expect((await readMessages([await textOf(writeMessages(messages))])).messages).toEqual(messages);
      }),
    );
  });

  test.each([
    ['[\n{"role":"user"},\n', "line 2: the JSON ends too early"],
    ['[\n{"role":"user"}\n{"role":"user"}]', "line 3: is not JSON"],
    ['[\n{"role":"user"},\n]', "line 3: is not JSON"],
    ['[\n{"role":user}\n]', "line 2: is not JSON"],
    ['[\n{"role":"us\ner"}]', "line 2: is not JSON"],
    ['[\n{"role":"user"}] x', "line 2: is not JSON"],
    ['[\n{"role":"us', "line 2: the JSON ends too early"],
    ['[\n{"role":', "line 2: the JSON ends too early"],
    ["{}", "expected an array of messages"],
  ])("%j is refused: %s", async (text, message) => {
    await expect(readMessages([text])).rejects.toThrow(message);
  });
});

describe("detectFormat", () => {
  test.each([
    ["[", "messages"],
    ['\ufeff \r\n[{"role":', "messages"],
    ['{"format":"orcha-bundle","version":9', "bundle"],
    ['\n{"sequence":1,"type":"session.created"', "session-log"],
    ['{"role":"user"}', undefined],
    ["sequence", undefined],
    ["", undefined],
  ])("%j is %s", (text, format) => {
    expect(detectFormat(text)).toBe(format);
    expect(detectFormat(new TextEncoder().encode(text))).toBe(format);
  });
});
