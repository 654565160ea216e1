import type { AgentMessage } from "@orcha/client";
import { memoryStore } from "@orcha/server";
import { describe, expect, test } from "vitest";
import { clientOf } from "../harness.ts";

describe("a history as large as a request takes", () => {
  test("is kept in memory, though it has more events than a call takes arguments", { timeout: 60_000 }, async () => {
    const orcha = clientOf(memoryStore());
    const saved = Array.from({ length: 132_000 }, (): AgentMessage => ({ role: "user", content: "" }));
    const { session } = await orcha.supportAgent.restore(saved);
    expect(session.sequence).toBe(132_001);
    expect((await orcha.supportAgent.fork(session.sessionId)).sequence).toBe(132_001);
  });
});
