import { expect, test } from "vitest";
import { setting } from "./setting.ts";

const ask = { clientAction: "request_human_approval", arguments: { amount: 750, currency: "USD" } } as const;

test("time stands still until the test moves it", async () => {
  const { mock, app } = await setting({}, { startsAt: "2030-06-01T00:00:00.000Z" });
  expect(await app.supportAgent.create()).toMatchObject({ sessionId: "ses_test_1", createdAt: "2030-06-01T00:00:00.000Z" });
  await mock.clock.advance(3_600_000);
  expect(await app.supportAgent.create()).toMatchObject({ sessionId: "ses_test_2", createdAt: "2030-06-01T01:00:00.000Z" });
  await expect(mock.clock.advance(-1)).rejects.toThrow(TypeError);
});

test("a client action expires, and the run goes on", async () => {
  const { mock, app } = await setting({ supportAgent: { sessions: [{ sessionId: "ses_1", history: [{ user: "Refund it" }, ask] }], script: [{ text: "Nobody approved it." }] } });
  await mock.clock.advance(58_000);
  expect(await app.supportAgent.get("ses_1")).toMatchObject({ runStatus: "waiting_for_client_action" });
  await mock.clock.advance(2000);
  await expect.poll(async () => (await app.supportAgent.get("ses_1")).runStatus).toBe("completed");
  const { items } = await app.supportAgent.history("ses_1");
  expect(items.find(({ type }) => type === "client_action")).toMatchObject({ outcome: "expired" });
  expect(await app.supportAgent.resume("ses_1", { toolResults: [{ callId: "call_1", output: { approved: true } }] }).result).toMatchObject({ error: { code: "action_result_conflict" } });
});

test("a run at work keeps its session, however much time passes", async () => {
  const { mock, app } = await setting({
    supportAgent: { sessions: [{ sessionId: "ses_1", history: [{ user: "Talk" }, { text: "Once", hangs: true }] }], script: [{ text: "A long answer", chunkSize: 3, delayMs: 30 }] },
  });
  const run = app.supportAgent.run("Talk");
  for await (const frame of run.stream) {
    if (frame.status === "streaming") await mock.clock.advance(600_000);
  }
  expect(await run.result).toMatchObject({ status: "completed", output: "A long answer" });
  expect(await app.supportAgent.get("ses_1")).toMatchObject({ runStatus: "running" });
});

test("a server ends and another goes on: with its readers, and with its runs from the log", async () => {
  const text = "One, two, three, four, five, six";
  const { mock, app } = await setting({
    supportAgent: { script: [{ action: "lookup_order", arguments: { orderId: "A-1" }, output: { status: "sent" } }, { text, chunkSize: 4, delayMs: 60 }] },
  });
  const run = app.supportAgent.run("Count");
  const said: string[] = [];
  await expect.poll(async () => (await app.supportAgent.get.safe(run.sessionId)).data?.runStatus).toBe("running");
  const reading = (async () => {
    for await (const frame of app.supportAgent.tail(run.sessionId, { after: 0 })) {
      if (frame.type === "item") said.push(frame.item.id);
      if (frame.type === "item" && frame.item.type === "evaluation") return;
    }
  })();
  let restarted = false;
  for await (const frame of run.stream) {
    if (frame.status !== "streaming" || restarted) continue;
    restarted = true;
    await mock.restart();
  }
  expect(restarted).toBe(true);
  expect(await run.result).toMatchObject({ status: "completed", output: text });
  await reading;
  const { items } = await app.supportAgent.history(run.sessionId);
  expect(items.map((item) => ("incomplete" in item ? "incomplete" : item.type))).toEqual(["message", "action", "incomplete", "message", "evaluation"]);
  expect([...new Set(said)]).toEqual(items.map(({ id }) => id));
});
