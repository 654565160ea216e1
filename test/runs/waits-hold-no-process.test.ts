import { memoryStore } from "@orcha/server";
import { expect, test } from "vitest";
import { bedOf, monologue, variables } from "./bed.ts";

/** How many timers this process waits for. */
function timers(): number {
  return process.getActiveResourcesInfo().filter((kind) => kind === "Timeout").length;
}

test("a server that has drained, and a run that was paused, leave no timer that keeps the process", async () => {
  const before = timers();
  const { orcha, service } = bedOf(memoryStore(), { support: [monologue] });
  const run = orcha.supportAgent.run({ content: "Talk", variables });
  for await (const frame of run.stream) if (frame.status === "streaming") break;
  await orcha.supportAgent.pause(run.sessionId);
  await run.evaluations;
  await service.drain(60_000);
  expect(timers()).toBeLessThanOrEqual(before);
});
