import { isDeepStrictEqual } from "node:util";
import { memoryStore } from "@orcha/server";
import { OrchaError } from "@orcha/contract";
import { expect, test } from "vitest";
import { corpusFile, readLog } from "../formats/reading.ts";
import { everythingOf, leftovers, listed, load, refOf } from "./sessions.ts";

/** What a reader of the damaged file may have seen, against what the store holds after its import. */
async function faultOf(file: Uint8Array): Promise<string | undefined> {
  const store = memoryStore();
  const { read, refused } = await readLog(file);
  const error: unknown = await load(store, [file], { agent: "supportAgent", sessionId: "ses_a" }).then(
    () => undefined,
    (thrown: unknown) => thrown,
  );
  if ((await leftovers(store)) > 0) return "something was left behind";
  if (error !== undefined) {
    if ((await listed(store)).length > 0) return "something was written";
    if (!(error instanceof OrchaError)) return "neither taken nor refused";
    return refused && error.code === "invalid_input" && error.details?.["line"] !== refused.line ? "another line" : undefined;
  }
  if (refused) return "what no reader takes was imported";
  const { events } = await everythingOf(store, refOf("ses_a"));
  return isDeepStrictEqual(events.slice(1), JSON.parse(JSON.stringify(read.slice(1)))) ? undefined : "other events than in the file";
}

test("damage at every byte: an import is whole, or nothing is written", async () => {
  const faults: string[] = [];
  const bytes = corpusFile("019-torn-last-line");
  for (let at = 0; at < bytes.length; at += 1) {
    const damaged = [
      bytes.slice(0, at),
      Uint8Array.from([...bytes.subarray(0, at), ...bytes.subarray(at + 1)]),
      Uint8Array.from(bytes, (byte, index) => (index === at ? byte ^ 0x04 : byte)),
      Uint8Array.from([...bytes.subarray(0, at), 0x0a, ...bytes.subarray(at)]),
    ];
    for (const file of damaged) {
      const fault = await faultOf(file);
      if (fault !== undefined) faults.push(`byte ${at}: ${fault}`);
    }
  }
  expect(faults).toEqual([]);
}, 60_000);
