import type {
  AgentMessage,
  ClientActionOutcome,
  Execution,
  ExecutionResult,
  HistoryItem,
  MessageContent,
  Metadata,
  OrchaError,
  SessionHistory,
  SessionSnapshot,
  Unlisted,
} from "@orcha/client";
import { expectTypeOf } from "vitest";
import { orcha, type SupportAgent } from "./connection.ts";

// Checked by `tsc` alone; nothing here runs. A test of `orcha generate` checks the same file, beside a connection of its
// own. The lint rules that are off would report the very mistakes that the compiler is expected to report.
/* oxlint-disable typescript/no-unsafe-enum-comparison, typescript/no-unsafe-enum-assignment */

/** The end of a switch: compiles only where nothing is left. */
declare function exhausted(nothing: never): void;

export async function narrowing(): Promise<void> {
  const history = await orcha.supportAgent.history("ses_1", { page: 1, pageSize: 25 });
  expectTypeOf(history).toEqualTypeOf<SessionHistory<SupportAgent>>();
  for (const item of history.items) {
    expectTypeOf(item.id).toEqualTypeOf<string>();
    switch (item.type) {
      case "message":
        expectTypeOf(item.role).toEqualTypeOf<"user" | "assistant">();
        expectTypeOf(item.content).toEqualTypeOf<MessageContent[]>();
        break;
      case "action":
        expectTypeOf(item.name).toEqualTypeOf<"lookup_order" | "refund" | Unlisted>();
        if (item.name === "lookup_order") expectTypeOf(item.arguments).toEqualTypeOf<{ orderId: string } | undefined>();
        if (item.name === "refund") expectTypeOf(item.arguments).toEqualTypeOf<{ orderId: string; amount: number } | undefined>();
        // @ts-expect-error there is no such action
        if (item.name === "lookup_ordre") throw new Error();
        break;
      case "client_action":
        expectTypeOf(item.callId).toEqualTypeOf<string>();
        expectTypeOf(item.status).toEqualTypeOf<"waiting" | "completed" | "failed">();
        if (item.name === "request_human_approval") {
          expectTypeOf(item.arguments).toEqualTypeOf<{ amount: number; currency: string } | undefined>();
          if (item.status === "waiting") expectTypeOf(item.arguments).toEqualTypeOf<{ amount: number; currency: string }>();
          else expectTypeOf(item.outcome).toEqualTypeOf<ClientActionOutcome>();
        }
        // @ts-expect-error that is an action, not a client action
        if (item.name === "lookup_order") throw new Error();
        break;
      case "subagent":
        expectTypeOf(item.name).toEqualTypeOf<"researcher" | Unlisted>();
        break;
      case "skill":
        expectTypeOf(item.name).toEqualTypeOf<"incident_triage" | Unlisted>();
        // @ts-expect-error there is no such skill
        if (item.name === "incident_triag") throw new Error();
        break;
      case "evaluation":
        expectTypeOf(item.name).toEqualTypeOf<"response_quality" | Unlisted>();
        expectTypeOf(item.metrics[0]?.score).toEqualTypeOf<number | undefined>();
        break;
      case "session_completed":
        expectTypeOf(item.status).toEqualTypeOf<"completed" | "failed">();
        break;
      case "unreadable":
        expectTypeOf(item.reason).toEqualTypeOf<string>();
        break;
      case "unknown":
        expectTypeOf(item.originalType).toEqualTypeOf<string>();
        break;
      default:
        exhausted(item);
    }
    // @ts-expect-error there is no such type
    if (item.type === "massage") throw new Error();
  }
}

export function leftOver(item: HistoryItem<SupportAgent>): void {
  if (item.type === "action") {
    switch (item.name) {
      case "lookup_order":
      case "refund":
        break;
      default:
        expectTypeOf(item.name).toEqualTypeOf<Unlisted>();
        item.name satisfies Unlisted;
        expectTypeOf(item.arguments).toEqualTypeOf<unknown>();
    }
    switch (item.name) {
      case "lookup_order":
        break;
      default:
        // @ts-expect-error "refund" is left too
        item.name satisfies Unlisted;
    }
    expectTypeOf<Exclude<typeof item.name, Unlisted>>().toEqualTypeOf<"lookup_order" | "refund">();
  }
  if (item.type === "client_action" && item.name !== "request_human_approval") {
    expectTypeOf(item.name).toEqualTypeOf<Unlisted>();
  }
}

export async function inputs(): Promise<void> {
  // @ts-expect-error there is no such agent
  void orcha.supportagent;
  // @ts-expect-error a page is a number
  await orcha.supportAgent.history("ses_1", { page: "1" });
  // @ts-expect-error there is no such option
  await orcha.supportAgent.history("ses_1", { pagesize: 25 });
  // @ts-expect-error a session id is a string
  await orcha.supportAgent.get(7);

  await orcha.supportAgent.create({ name: "A", metadata: { customerId: "c", tier: "free" }, signal: AbortSignal.timeout(1), idempotencyKey: "k" });
  // @ts-expect-error a customer's id is a string
  await orcha.supportAgent.create({ metadata: { customerId: 1 } });
  // @ts-expect-error the customer's id is missing
  await orcha.supportAgent.create({ metadata: { tier: "free" } });
  // @ts-expect-error there is no such tier
  await orcha.supportAgent.restore([], { metadata: { customerId: "c", tier: "gold" } });
  await orcha.supportAgent.update("ses_1", { metadata: { tier: "paid" }, unset: ["customerId"], name: null, ifSequence: 3 });
  // @ts-expect-error there is no such key
  await orcha.supportAgent.update("ses_1", { unset: ["customer"] });
  await orcha.supportAgent.list({ metadata: { tier: "paid" }, runStatus: "waiting_for_client_action", status: "active" });
  // @ts-expect-error there is no such key
  await orcha.supportAgent.list({ metadata: { customer: "c" } });

  const messages = [{ role: "user", content: "Hi" }] as const satisfies AgentMessage[];
  await orcha.supportAgent.append("ses_1", { messages }, { ifSequence: 4, idempotencyKey: "k", signal: AbortSignal.timeout(1) });
  await orcha.supportAgent.append("ses_1", { events: [{ type: "run.started", data: {} }] });
  // @ts-expect-error sessions are created and completed by calls of their own
  await orcha.supportAgent.append("ses_1", { events: [{ type: "session.paused", data: {} }] });
  // @ts-expect-error either messages or events
  await orcha.supportAgent.append("ses_1", { messages, events: [] });
  // @ts-expect-error neither messages nor events
  await orcha.supportAgent.append("ses_1", {});
  await orcha.supportAgent.delete("ses_1", { signal: AbortSignal.timeout(1), idempotencyKey: "k", ifSequence: 4 });
  // @ts-expect-error a read has no idempotency key
  await orcha.supportAgent.get("ses_1", { idempotencyKey: "k" });
}

export async function answers(): Promise<void> {
  const { supportAgent } = orcha;
  expectTypeOf(await supportAgent.get("ses_1")).toEqualTypeOf<SessionSnapshot<SupportAgent>>();
  expectTypeOf((await supportAgent.get("ses_1")).metadata.customerId).toEqualTypeOf<string>();
  expectTypeOf((await supportAgent.restore([])).session).toEqualTypeOf<SessionSnapshot<SupportAgent>>();
  expectTypeOf((await supportAgent.list()).items).toEqualTypeOf<SessionSnapshot<SupportAgent>[]>();
  expectTypeOf(await supportAgent.delete("ses_1")).toEqualTypeOf<void>();
  expectTypeOf(await supportAgent.messages("ses_1")).toEqualTypeOf<AgentMessage[]>();
  for await (const page of supportAgent.pages("ses_1", { pageSize: 10 })) {
    expectTypeOf(page).toEqualTypeOf<SessionHistory<SupportAgent>>();
  }
  for (const event of (await supportAgent.events("ses_1")).events) {
    if (event.type === "run.failed") expectTypeOf(event.data.error.code).toEqualTypeOf<string>();
    if (event.type === "unknown") expectTypeOf(event.originalType).toEqualTypeOf<string>();
    // @ts-expect-error there is no such event
    if (event.type === "run.faild") throw new Error();
  }
  for (const pending of (await supportAgent.get("ses_1")).pendingClientActions) {
    if (pending.name === "request_human_approval") {
      expectTypeOf(pending.arguments).toEqualTypeOf<{ amount: number; currency: string }>();
    }
  }
}

export async function executions(): Promise<void> {
  const execution = orcha.supportAgent.resume("ses_1", { toolResults: [{ callId: "c1", output: { approved: true } }, { callId: "c2", deny: true }] });
  expectTypeOf(execution).toEqualTypeOf<Execution<SupportAgent, ExecutionResult<SupportAgent>>>();
  // @ts-expect-error an execution is no promise
  void execution.then;
  const result = await execution.result;
  switch (result.status) {
    case "recorded":
    case "waiting_for_client_action":
      expectTypeOf(result.pendingClientActions).toEqualTypeOf<SessionSnapshot<SupportAgent>["pendingClientActions"]>();
      break;
    case "failed":
      expectTypeOf(result.error.retryable).toEqualTypeOf<boolean | undefined>();
      break;
    case "completed":
      expectTypeOf(result.output).toEqualTypeOf<string>();
      break;
    case "paused":
    case "stopped":
      expectTypeOf(result.output).toEqualTypeOf<string | undefined>();
      break;
    default:
      exhausted(result);
  }
  // @ts-expect-error an answer or a denial
  orcha.supportAgent.resume("ses_1", { toolResults: [{ callId: "c1" }] });
  // @ts-expect-error resume reports failures in its result
  void orcha.supportAgent.resume.safe;
}

export async function safely(): Promise<void> {
  const { data, error } = await orcha.supportAgent.history.safe("ses_1", { page: 1 });
  expectTypeOf(data).toEqualTypeOf<SessionHistory<SupportAgent> | undefined>();
  if (error) {
    expectTypeOf(error).toEqualTypeOf<OrchaError>();
    expectTypeOf(data).toEqualTypeOf<undefined>();
    if (error.code === "session_not_found" || error.code === "timeout") return;
    // @ts-expect-error there is no such code
    if (error.code === "sesion_not_found") return;
    // What is left can still be shown as text.
    expectTypeOf<typeof error.code>().toExtend<string>();
    return;
  }
  expectTypeOf(data).toEqualTypeOf<SessionHistory<SupportAgent>>();
  // @ts-expect-error safe takes the method's arguments
  await orcha.supportAgent.history.safe("ses_1", { page: "1" });
}

export async function withoutActions(): Promise<void> {
  const { items, metadata } = await orcha.researcher.history("ses_1");
  expectTypeOf(metadata).toEqualTypeOf<Metadata>();
  for (const item of items) {
    if (item.type === "action") {
      expectTypeOf(item.name).toEqualTypeOf<Unlisted>();
      // @ts-expect-error the agent has no actions
      if (item.name === "lookup_order") throw new Error();
    }
  }
  await orcha.researcher.create({ metadata: { any: "thing", n: 1, yes: true, no: null } });
  // @ts-expect-error metadata holds scalars
  await orcha.researcher.create({ metadata: { nested: {} } });
}
