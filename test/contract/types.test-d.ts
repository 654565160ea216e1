import {
  defineAgent,
  defineAgents,
  type Agent,
  type AgentTypes,
  type AgentTypesOf,
  type ClientActionItem,
  type EventInput,
  type EventInputOf,
  type EventOf,
  type HistoryItem,
  type MessageContent,
  type Metadata,
  type PendingClientActionOf,
  type SessionEvent,
  type SessionSnapshot,
  type Unlisted,
} from "@orcha/contract";
import * as v from "valibot";
import { expectTypeOf } from "vitest";

const agents = defineAgents({
  supportAgent: defineAgent({
    metadata: v.object({ customerId: v.string() }),
    actions: {
      lookup_order: { input: v.object({ orderId: v.string() }), output: v.object({ status: v.string() }) },
      refund: { input: v.object({ cents: v.number() }) },
    },
    clientActions: { request_human_approval: { input: v.object({ amount: v.number(), currency: v.string() }), output: v.object({ approved: v.boolean() }) } },
    skills: { incident_triage: { description: "Sorts incidents" } },
    evaluations: { response_quality: { metrics: { groundedness: { threshold: 0.8 } } } },
    subagents: ["researcher"],
    output: v.object({ answer: v.string() }),
  }),
  researcher: defineAgent({}),
});

type Support = (typeof agents)["supportAgent"] extends Agent<infer T> ? T : never;
type Researcher = (typeof agents)["researcher"] extends Agent<infer T> ? T : never;

// The types of a definition.
expectTypeOf<Support["metadata"]>().toEqualTypeOf<{ customerId: string }>();
expectTypeOf<Support["actions"]["lookup_order"]>().toEqualTypeOf<{ arguments: { orderId: string }; output: { status: string } }>();
expectTypeOf<Support["actions"]["refund"]["output"]>().toBeUnknown();
expectTypeOf<Support["clientActions"]["request_human_approval"]["output"]>().toEqualTypeOf<{ approved: boolean }>();
expectTypeOf<keyof Support["actions"]>().toEqualTypeOf<"lookup_order" | "refund">();
expectTypeOf<Support["skills"]>().toEqualTypeOf<"incident_triage">();
expectTypeOf<Support["evaluations"]>().toEqualTypeOf<"response_quality">();
expectTypeOf<Support["subagents"]>().toEqualTypeOf<"researcher">();
expectTypeOf<Support["output"]>().toEqualTypeOf<{ answer: string }>();
expectTypeOf<Support>().toExtend<AgentTypes>();

expectTypeOf<Researcher["metadata"]>().toEqualTypeOf<Metadata>();
expectTypeOf<keyof Researcher["actions"]>().toBeNever();
expectTypeOf<Researcher["skills"]>().toBeNever();
expectTypeOf<Researcher["output"]>().toEqualTypeOf<string>();
expectTypeOf<AgentTypesOf<{ output: v.StringSchema<undefined> }>["output"]>().toEqualTypeOf<string>();

// What goes in and what comes out differ where a schema fills in.
type Filled = AgentTypesOf<{ metadata: v.ObjectSchema<{ plan: v.OptionalSchema<v.StringSchema<undefined>, "free"> }, undefined> }>;
expectTypeOf<Filled["metadata"]>().toEqualTypeOf<{ plan?: string | undefined }>();

expectTypeOf(agents).toHaveProperty("supportAgent");
// @ts-expect-error no agent of that name
export const misspelt = agents.supportagent;

// A definition with a field that no agent has.
// @ts-expect-error instructions are the server's
defineAgent({ instructions: "Be brief." });

// An item narrows by type, then by name.
export function read(item: HistoryItem<Support>): unknown {
  switch (item.type) {
    case "message":
      expectTypeOf(item.content).toEqualTypeOf<MessageContent[]>();
      // @ts-expect-error messages have no name
      return item.name;
    case "action":
      return readAction(item);
    case "client_action":
      if (item.status === "waiting" && item.name === "request_human_approval") {
        expectTypeOf(item.arguments).toEqualTypeOf<{ amount: number; currency: string }>();
        expectTypeOf(item.outcome).toBeUndefined();
      }
      if (item.status !== "waiting") {
        expectTypeOf(item.outcome).toEqualTypeOf<"answered" | "denied" | "expired" | "cancelled">();
        expectTypeOf(item.arguments).toBeUndefined();
      }
      return item.callId;
    case "subagent":
      expectTypeOf(item.name).toEqualTypeOf<"researcher" | Unlisted>();
      return item.childSessionId;
    case "skill":
      expectTypeOf(item.name).toEqualTypeOf<"incident_triage" | Unlisted>();
      // @ts-expect-error no skill of that name
      expectTypeOf<"incident_traige">().toExtend<typeof item.name>();
      return item.summary;
    case "evaluation":
      expectTypeOf(item.name).toEqualTypeOf<"response_quality" | Unlisted>();
      return item.metrics[0]?.score;
    case "session_completed":
      expectTypeOf(item.status).toEqualTypeOf<"completed" | "failed">();
      return item.summary;
    case "unreadable":
      return item.reason;
    case "unknown":
      return item.originalType;
    default:
      // Every type is there.
      expectTypeOf(item).toBeNever();
      return item;
  }
}

function readAction(item: Extract<HistoryItem<Support>, { type: "action" }>): unknown {
  switch (item.name) {
    case "lookup_order":
      expectTypeOf(item.arguments).toEqualTypeOf<{ orderId: string } | undefined>();
      // @ts-expect-error the argument of another action
      return item.arguments?.cents;
    case "refund":
      expectTypeOf(item.arguments).toEqualTypeOf<{ cents: number } | undefined>();
      return item.arguments?.cents;
    default:
      // What a newer server knows: the name is none of the app's.
      expectTypeOf(item.name).toEqualTypeOf<Unlisted>();
      expectTypeOf(item.arguments).toBeUnknown();
      return item.name;
  }
}

export function misspell(item: Extract<HistoryItem<Support>, { type: "action" }>): boolean {
  // @ts-expect-error no action of that name
  // oxlint-disable-next-line typescript/no-unsafe-enum-comparison
  return item.name === "lookup_ordr";
}

// Pending calls narrow by name.
export function approve(call: PendingClientActionOf<Support>): number | undefined {
  if (call.name !== "request_human_approval") return undefined;
  expectTypeOf(call.arguments).toEqualTypeOf<{ amount: number; currency: string }>();
  return call.arguments.amount;
}

expectTypeOf<SessionSnapshot<Support>["metadata"]>().toEqualTypeOf<{ customerId: string }>();
expectTypeOf<ClientActionItem["arguments"]>().toBeUnknown();

// Events narrow by type.
export function follow(event: SessionEvent): unknown {
  if (event.type === "message.created") {
    expectTypeOf(event).toEqualTypeOf<EventOf<"message.created">>();
    if (event.data.role === "tool") return event.data.content[0]?.callId;
    // @ts-expect-error text has no call id
    return event.data.content[0]?.callId;
  }
  if (event.type === "client_action.requested") return event.data.calls[0]?.callId;
  // @ts-expect-error only requests have calls
  return event.data.calls;
}

export function narrow(input: EventInput): void {
  if (input.type === "action.failed") expectTypeOf(input).toEqualTypeOf<EventInputOf<"action.failed">>();
  // @ts-expect-error the store gives sequences
  expectTypeOf(input.sequence).toBeAny();
}

export const inputs: EventInput[] = [
  { type: "action.requested", data: { callId: "c", name: "look" } },
  // @ts-expect-error a result has no name
  { type: "client_action.resolved", data: { results: [{ callId: "c", name: "look" }] } },
  // @ts-expect-error session events are the server's
  { type: "session.paused", data: {} },
  // @ts-expect-error a request needs a name
  { type: "action.requested", data: { callId: "c" } },
];
