import type { AgentMessage } from "@orcha/client";
import { memoryStore } from "@orcha/server";
import { describe, expect, test } from "vitest";
import { cpuTime } from "../cpu-time.ts";
import { clientOf } from "../harness.ts";

/** One turn that asks for everything at once, and its results. */
function parallel(ids: readonly string[]): AgentMessage[] {
  const calls = ids.map((id) => ({ id, type: "function" as const, function: { name: "look", arguments: "" } }));
  const results = ids.map((id): AgentMessage => ({ role: "tool", content: "", tool_call_id: id, name: "look" }));
  return [{ role: "assistant", content: null, tool_calls: calls }, ...results];
}

describe("a history as large as a request takes", () => {
  test("is kept in memory, though it has more events than a call takes arguments", { timeout: 60_000 }, async () => {
    const orcha = clientOf(memoryStore());
    const saved = Array.from({ length: 132_000 }, (): AgentMessage => ({ role: "user", content: "" }));
    const { session } = await orcha.supportAgent.restore(saved);
    expect(session.sequence).toBe(132_001);
    expect((await orcha.supportAgent.fork(session.sessionId)).sequence).toBe(132_001);
  });

  test.each([
    ["distinct ids", (index: number) => `c${index}`],
    ["one id", () => "c"],
  ])("is restored and read back in a moment, with 26,000 parallel calls of %s", { timeout: 60_000 }, async (_ids, idOf) => {
    const orcha = clientOf(memoryStore());
    const saved = parallel(Array.from({ length: 26_000 }, (_, index) => idOf(index)));
    const start = cpuTime();
    const { session } = await orcha.supportAgent.restore(saved);
    expect(await orcha.supportAgent.messages(session.sessionId)).toEqual(saved);
    expect(cpuTime() - start).toBeLessThan(10_000);
    const { items, total } = await orcha.supportAgent.history(session.sessionId);
    expect(total).toBe(26_000);
    expect(items.every((item) => item.type === "action" && item.status === "completed")).toBe(true);
  });
});
