import { createOrcha } from "@orcha/client";
import { afterAll, beforeAll, expect, it, vi } from "vitest";
import type { agents } from "./agents.ts";
import { historyOf, startWireServer, success, type WireServer } from "./wire-server.ts";

let server: WireServer;
beforeAll(async () => {
  server = await startWireServer();
});
afterAll(() => server.close());

it("the documented program prints the conversation", async () => {
  server.replyWith(
    success(
      historyOf([
        {
          id: "message:3",
          type: "message",
          createdAt: "2026-09-28T12:00:04Z",
          role: "user",
          content: [{ type: "text", text: "Where is my order?" }],
        },
        {
          id: "client-action:call_123",
          type: "client_action",
          createdAt: "2026-09-28T12:00:09Z",
          name: "request_human_approval",
          callId: "call_123",
          status: "waiting",
          arguments: { amount: 750, currency: "USD" },
          summary: "request human approval is waiting for the client.",
        },
      ]),
    ),
  );
  const orcha = createOrcha<typeof agents>({ baseUrl: server.baseUrl });
  const sessionId = "ses_01K";
  const console = { log: vi.fn<(...printed: unknown[]) => void>() };

  const history = await orcha.supportAgent.history(sessionId, { page: 1, pageSize: 25 });
  for (const item of history.items) {
    if (item.type === "message") console.log(item.role, item.content);
    if (item.type === "client_action") console.log(item.name, item.callId, item.status);
  }

  expect(console.log.mock.calls).toEqual([
    ["user", [{ type: "text", text: "Where is my order?" }]],
    ["request_human_approval", "call_123", "waiting"],
  ]);
});
