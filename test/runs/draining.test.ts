import type { ScriptReply } from "@orcha/agent/testing";
import { memoryStore } from "@orcha/server";
import { expect, test } from "vitest";
import { bedOf, variables } from "./bed.ts";

/** An entry of a script that is said once it is let. */
function held(reply: () => ScriptReply) {
  const { promise, resolve: say } = Promise.withResolvers<void>();
  return { entry: () => promise.then(reply), say };
}

test("a server that ends lets a run that is under way hand on work as before", async () => {
  let child = "";
  const more = held(() => ({ toolCalls: [{ name: "resume_agent", arguments: { sessionId: child, input: "Where exactly?" } }] }));
  const delegate = { toolCalls: [{ name: "run_agent", arguments: { agent: "researcher", input: "Find it" } }] };
  const { orcha, service, models } = bedOf(memoryStore(), {
    support: [delegate, { text: "In Berlin." }, more.entry, { text: "In Mitte." }],
    researcher: [{ text: "Berlin." }, { text: "Mitte." }],
  });
  const { sessionId, result } = orcha.supportAgent.run({ content: "Find it", variables });
  await result;
  const { items } = await orcha.supportAgent.history(sessionId);
  child = items.flatMap((item) => (item.type === "subagent" ? [item.childSessionId] : []))[0] ?? "";
  const run = orcha.supportAgent.resume(sessionId, "Where exactly?");
  await expect.poll(() => models.supportAgent.requests.length).toBe(3);
  const drained = service.drain(30_000);
  more.say();
  expect(await run.result).toMatchObject({ status: "completed", output: "In Mitte." });
  await drained;
  expect(JSON.stringify(models.supportAgent.requests.at(-1)?.prompt.at(-1))).toContain("Mitte.");
});

test("a server that ends tells how a run was judged, where that takes no longer than its end", async () => {
  const { promise: judged, resolve: judge } = Promise.withResolvers<void>();
  const quality = () => judged.then(() => ({ groundedness: { score: 1, reasoning: "It is so." } }));
  const { orcha, service } = bedOf(memoryStore(), { support: [{ text: "Hello." }], quality });
  const run = orcha.supportAgent.run({ content: "Hi", variables });
  expect(await run.result).toMatchObject({ status: "completed" });
  const drained = service.drain(30_000);
  judge();
  expect(await run.evaluations).toMatchObject([{ name: "response_quality", status: "passed" }]);
  await drained;
});
