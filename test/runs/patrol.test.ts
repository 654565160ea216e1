import { memoryStore } from "@orcha/server";
import { serve } from "@orcha/server/node";
import { expect, onTestFinished, test } from "vitest";
import { agents } from "../agents.ts";

test("a server whose store hangs asks it for what is due once, and again when it answers", async () => {
  const answers: (() => void)[] = [];
  let underWay = 0;
  const due = async () => {
    underWay += 1;
    await new Promise<void>((resolve) => answers.push(resolve));
    underWay -= 1;
    return [];
  };
  // Where nobody waits, there are twenty looks a second.
  const server = await serve({ agents, store: { ...memoryStore(), due }, port: 0, leaseMs: 100 });
  onTestFinished(() => server.close());
  for (let looks = 1; looks <= 3; looks += 1) {
    await expect.poll(() => answers.length).toBe(looks);
    // Time for several more.
    await new Promise((resolve) => setTimeout(resolve, 200));
    expect([answers.length, underWay]).toEqual([looks, 1]);
    answers.at(-1)?.();
  }
});
