import { createOrcha } from "@orcha/client";
import { setupOrcha } from "@orcha/testing/node";
import { afterAll, afterEach, beforeAll, expect, test } from "vitest";
import { agents } from "../runs/agents.ts";

const mock = setupOrcha(agents, {
  supportAgent: {
    sessions: [
      {
        sessionId: "ses_open",
        name: "Order A-1",
        history: [
          { user: "Where is my order?" },
          { text: "Let me look.", action: "lookup_order", arguments: { orderId: "A-1" }, output: { status: "lost" } },
          { clientAction: "request_human_approval", arguments: { amount: 750, currency: "USD" } },
        ],
      },
    ],
    script: [
      { text: "Refunded." },
      { action: "lookup_order", arguments: { orderId: "B-2" }, output: { status: "sent" } },
      { text: "It is on its way.", chunkSize: 4, delayMs: 5 },
    ],
  },
});
beforeAll(() => mock.listen());
afterEach(() => mock.reset());
afterAll(() => mock.close());

const orcha = createOrcha<typeof agents>({ baseUrl: "https://agents.example.com", retry: { minDelayMs: 1, maxDelayMs: 2 } });

test("smoke", async () => {
  const page = await orcha.supportAgent.history("ses_open");
  console.log(JSON.stringify(page, null, 1));
  const resumed = await orcha.supportAgent.resume("ses_open", { toolResults: [{ callId: "call_2", output: { approved: true } }] }).result;
  console.log(resumed);
  const run = orcha.supportAgent.run({ content: "Where is B-2?", sessionId: "ses_b" });
  const frames = [];
  for await (const frame of run.stream) frames.push(frame);
  console.log(frames);
  console.log(mock.requests.map((r) => [r.operation, r.status]));
  expect(1).toBe(1);
});
