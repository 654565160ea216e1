import { expect, test } from "vitest";
import { eventsOf } from "../runs/bed.ts";
import { setting } from "./setting.ts";

test("a list is the runs one after the other, whichever session they belong to", async () => {
  const { app } = await setting({
    supportAgent: { script: [{ action: "refund", arguments: { amount: 5 }, output: {} }, { text: "One." }, { text: "Two." }, { text: "Three.", hangs: true }, { text: "Four." }] },
  });
  expect(await app.supportAgent.run("1").result).toMatchObject({ output: "One." });
  expect(await app.supportAgent.run("2").result).toMatchObject({ output: "Two." });
  const three = app.supportAgent.run("3");
  // A run that was stopped takes nothing from the next one.
  for await (const frame of three.stream) if (frame.status === "streaming") break;
  expect(await three.stop()).toMatchObject({ runStatus: "stopped" });
  expect(await app.supportAgent.resume(three.sessionId, "4").result).toMatchObject({ output: "Four." });
  expect(await app.supportAgent.run("5").result).toMatchObject({
    status: "failed",
    error: { code: "provider_error", message: "the script of supportAgent has 4 runs, and this would be another one" },
  });
});

test("a function is asked once for each run", async () => {
  const asked: unknown[] = [];
  const { app } = await setting({
    supportAgent: {
      script: (run) => {
        asked.push(run);
        if (!run.text.includes("refund")) return { text: "Hello." };
        return [{ clientAction: "request_human_approval", arguments: { amount: 5, currency: "EUR" } }, { text: "Refunded." }];
      },
    },
  });
  expect(await app.supportAgent.run({ sessionId: "ses_a", content: "Hi", metadata: { plan: "paid" } }).result).toMatchObject({ output: "Hello." });
  await app.supportAgent.resume("ses_a", "A refund, please: refund").result;
  expect(await app.supportAgent.resume("ses_a", { toolResults: [{ callId: "call_1", output: { approved: true } }] }).result).toMatchObject({ output: "Refunded." });
  expect(asked).toEqual([
    { sessionId: "ses_a", run: 1, metadata: { plan: "paid" }, text: "Hi" },
    { sessionId: "ses_a", run: 2, metadata: { plan: "paid" }, text: "A refund, please: refund" },
  ]);
});

test("actions give what the step says, fail as it says, take as long, or are the scenario's own", async () => {
  const { app } = await setting({
    supportAgent: {
      script: [
        {
          calls: [
            { action: "lookup_order", arguments: { orderId: "A-1" }, output: { status: "lost" }, takesMs: 20 },
            { action: "lookup_order", arguments: { orderId: "A-2" }, error: "no such order" },
            { action: "refund", arguments: { amount: 7 } },
          ],
        },
        { text: "Done." },
      ],
      actions: { refund: ({ amount }) => ({ refunded: amount }) },
    },
  });
  const { sessionId, result } = app.supportAgent.run("Go");
  expect(await result).toMatchObject({ status: "completed" });
  const events = await eventsOf(app, sessionId);
  expect(events.flatMap((event) => (event.type === "action.completed" ? [event.data.output] : []))).toEqual([{ status: "lost" }, { refunded: 7 }]);
  expect(events.find(({ type }) => type === "action.failed")?.data).toMatchObject({ error: { code: "action_failed", message: "no such order" } });
});

test("work is handed to another agent, whose steps are its own or the call's", async () => {
  const { app } = await setting({
    supportAgent: {
      script: [
        { calls: [{ subagent: "researcher", input: "Here", steps: [{ text: "Not here." }] }, { subagent: "researcher", input: "There" }] },
        { text: "Found." },
      ],
    },
    researcher: { script: [{ text: "There it is." }] },
  });
  const { sessionId, result } = app.supportAgent.run("Find it");
  expect(await result).toMatchObject({ output: "Found." });
  const { items } = await app.supportAgent.history(sessionId);
  const children = items.flatMap((item) => (item.type === "subagent" ? [item.childSessionId ?? ""] : []));
  expect(children).toEqual(["ses_test_1", "ses_test_2"]);
  const answers = await Promise.all(children.map(async (child) => (await app.supportAgent.subagentHistory(child)).lastOutput));
  expect(answers).toEqual(["Not here.", "There it is."]);
});

test("structured answers, failures, usage and skills are as on a server", async () => {
  const { app } = await setting({
    sorter: { script: [{ output: { label: "question" }, usage: { inputTokens: 3, outputTokens: 1 } }, { text: '{"label":"poem"}' }] },
    supportAgent: { script: [{ skill: "incident_triage" }, { text: "Calm.", evaluations: { response_quality: { groundedness: 0.2 } } }, { text: "Half an ans", fail: { message: "gone", retryable: true, statusCode: 503 } }] },
  });
  const sorted = await app.sorter.run("?").result;
  expect(sorted).toMatchObject({ status: "completed", output: { label: "question" }, usage: { inputTokens: 3, outputTokens: 1 } });
  expect(await app.sorter.run("?").result).toMatchObject({ status: "failed", error: { details: { reason: "invalid_output" } } });
  const calm = app.supportAgent.run("Fire");
  expect(await calm.evaluations).toMatchObject([{ status: "failed", metrics: [{ score: 0.2, threshold: 0.8 }] }]);
  const gone = app.supportAgent.run("Again");
  expect(await gone.result).toMatchObject({ status: "failed", error: { code: "provider_error", retryable: true, details: { statusCode: 503 } } });
  expect((await app.supportAgent.history(gone.sessionId)).items.at(-1)).toMatchObject({ incomplete: true });
});

test("an app that can't answer a client action isn't asked, as on a server", async () => {
  const { app } = await setting({ supportAgent: { script: [{ clientAction: "pick_date", arguments: {} }, { text: "Then not." }] } });
  const run = app.supportAgent.run({ content: "When?", clientCapabilities: ["request_human_approval"] });
  expect(await run.result).toMatchObject({ status: "completed", output: "Then not." });
});

test("a step cuts the streams of its session in the midst of its text, and nobody misses anything", async () => {
  const text = "One, two, three, four, five, six, seven, eight";
  const { mock, app } = await setting({ supportAgent: { script: [{ text, chunkSize: 4, delayMs: 15, cutAfterChunks: 3 }] } });
  const run = app.supportAgent.run("Count");
  const texts: string[] = [];
  for await (const frame of run.stream) if (frame.status === "streaming") texts.push(frame.output);
  expect(await run.result).toMatchObject({ status: "completed", output: text });
  for (const [index, said] of texts.entries()) expect(said.startsWith(texts[index - 1] ?? "")).toBe(true);
  expect(mock.requests.filter(({ operation }) => operation === "run")).toHaveLength(2);
});
