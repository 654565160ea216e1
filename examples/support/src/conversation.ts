import type { AgentMessage, EventInput } from "@orcha/client";

/** The conversation so far, as another framework would have saved it: an order question and a looked-up order. */
export const saved: AgentMessage[] = [
  { role: "user", content: "Where is my order?" },
  {
    role: "assistant",
    content: null,
    tool_calls: [
      { id: "call_122", type: "function", function: { name: "lookup_order", arguments: '{"orderId":"A-1042"}' } },
    ],
  },
  {
    role: "tool",
    tool_call_id: "call_122",
    name: "lookup_order",
    content: '{"status":"lost by the carrier","total":750,"currency":"USD"}',
  },
  { role: "assistant", content: "I am sorry: the carrier lost order A-1042. Shall I refund the 750 USD?" },
  { role: "user", content: "Yes, please." },
];

/** What the agent does next, as its own loop would log it: it asks a person, and its run waits. */
export const asksForApproval: EventInput[] = [
  { type: "run.started", run: 1, data: { status: "running", agent: "supportAgent" } },
  {
    type: "message.created",
    run: 1,
    data: {
      role: "assistant",
      content: [
        { type: "text", text: "A colleague has to approve that amount. One moment." },
        {
          type: "tool_call",
          callId: "call_123",
          name: "request_human_approval",
          arguments: { amount: 750, currency: "USD" },
        },
      ],
    },
  },
  {
    type: "client_action.requested",
    run: 1,
    data: {
      status: "waiting",
      calls: [{ callId: "call_123", name: "request_human_approval", arguments: { amount: 750, currency: "USD" } }],
    },
  },
  { type: "run.paused", run: 1, data: { status: "waiting_for_client_action" } },
];

/** What the agent does once it has the answer. */
export function goesOn(approved: boolean): EventInput[] {
  const text = approved
    ? "Done: 750 USD are on their way back to you."
    : "My colleague wants to look at this first and will write to you today.";
  return [
    { type: "message.created", run: 1, data: { role: "assistant", content: [{ type: "text", text }] } },
    { type: "run.completed", run: 1, data: { status: "completed" } },
  ];
}
