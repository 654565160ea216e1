import { createOrcha, type OrchaError, type SessionSnapshot, type Unlisted } from "@orcha/client";
import {
  historyQuery,
  sessionsQuery,
  useHistory,
  useRun,
  useSessions,
  useSuspenseHistory,
  type ConversationItem,
  type PendingActionOf,
} from "@orcha/client/react";
import type { Agent } from "@orcha/contract";
import type { QueryClient } from "@tanstack/react-query";
import { expectTypeOf } from "vitest";
import type { agents } from "../client/agents.ts";

// Checked by `tsc` alone; nothing here runs.
/* oxlint-disable typescript/no-unsafe-enum-comparison, typescript/no-unsafe-enum-assignment, react/rules-of-hooks */

type SupportAgent = (typeof agents)["supportAgent"] extends Agent<infer T> ? T : never;

/** The end of a switch: compiles only where nothing is left. */
declare function exhausted(nothing: never): void;
declare const queryClient: QueryClient;

const orcha = createOrcha<typeof agents>({ baseUrl: "http://localhost:3000" });

export function Items(): void {
  const { items } = useHistory(orcha.supportAgent, "ses_1", { pageSize: 25 });
  expectTypeOf(items).toEqualTypeOf<readonly ConversationItem<SupportAgent>[]>();
  for (const item of items) {
    switch (item.type) {
      case "message":
        expectTypeOf(item.role).toEqualTypeOf<"user" | "assistant">();
        expectTypeOf(item.sending?.status).toEqualTypeOf<"sending" | "failed" | undefined>();
        expectTypeOf(item.sending?.error).toEqualTypeOf<OrchaError | undefined>();
        break;
      case "action":
        if (item.name === "refund") expectTypeOf(item.arguments).toEqualTypeOf<{ orderId: string; amount: number } | undefined>();
        // @ts-expect-error there is no such action
        if (item.name === "lookup_ordre") throw new Error();
        break;
      case "client_action":
        if (item.name === "request_human_approval" && item.status === "waiting") {
          expectTypeOf(item.arguments).toEqualTypeOf<{ amount: number; currency: string }>();
        }
        break;
      case "subagent":
        expectTypeOf(item.name).toEqualTypeOf<"researcher" | Unlisted>();
        break;
      case "skill":
      case "evaluation":
      case "session_completed":
      case "unreadable":
      case "unknown":
        break;
      default:
        exhausted(item);
    }
    // @ts-expect-error only messages are on their way
    if (item.type === "action") void item.sending;
  }
}

export function Pending(): void {
  const { pendingClientActions } = useHistory(orcha.supportAgent, "ses_1");
  expectTypeOf(pendingClientActions).toEqualTypeOf<readonly PendingActionOf<SupportAgent>[]>();
  for (const pending of pendingClientActions) {
    expectTypeOf(pending.isAnswering).toEqualTypeOf<boolean>();
    if (pending.name !== "request_human_approval") {
      expectTypeOf(pending.name).toEqualTypeOf<Unlisted>();
      continue;
    }
    expectTypeOf(pending.arguments).toEqualTypeOf<{ amount: number; currency: string }>();
    expectTypeOf(pending.answer).parameter(0).toEqualTypeOf<{ approved: boolean }>();
    void pending.answer({ approved: true });
    void pending.deny();
    void pending.deny("too much");
    // @ts-expect-error Type 'string' is not assignable to type 'boolean'.
    void pending.answer({ approved: "yes" });
    // @ts-expect-error Property 'approved' is missing
    void pending.answer({});
    // @ts-expect-error Expected 1 arguments, but got 0.
    void pending.answer();
  }
}

export function Calls(): void {
  const { send, snapshot, connection, ended, streaming } = useHistory(orcha.supportAgent, "ses_1");
  void send("Hello");
  void send([{ type: "image", mimeType: "image/png", fileUri: "https://example.com/a.png" }], { clientCapabilities: ["request_human_approval"] });
  // @ts-expect-error Argument of type 'number' is not assignable to parameter of type 'Content'.
  void send(1);
  // @ts-expect-error there is no such client action
  void send("Hello", { clientCapabilities: ["request_human_aproval"] });
  expectTypeOf(snapshot).toEqualTypeOf<SessionSnapshot<SupportAgent> | undefined>();
  expectTypeOf(useSuspenseHistory(orcha.supportAgent, "ses_1").snapshot).toEqualTypeOf<SessionSnapshot<SupportAgent>>();
  expectTypeOf(connection).toEqualTypeOf<"connecting" | "live" | "reconnecting" | "ended" | "failed">();
  expectTypeOf(ended).toEqualTypeOf<"completed" | "deleted" | undefined>();
  expectTypeOf(streaming?.text).toEqualTypeOf<string | undefined>();
  // @ts-expect-error Property 'supportagent' does not exist
  useHistory(orcha.supportagent, "ses_1");
  // @ts-expect-error Argument of type 'number' is not assignable to parameter of type 'string'.
  useHistory(orcha.supportAgent, 1);
  // @ts-expect-error there is no such option
  useHistory(orcha.supportAgent, "ses_1", { pagesize: 25 });
}

export function Lists(): void {
  const { sessions } = useSessions(orcha.supportAgent, { status: "active", metadata: { customerId: "c_1" }, pollMs: 5000 });
  expectTypeOf(sessions).toEqualTypeOf<readonly SessionSnapshot<SupportAgent>[]>();
  // @ts-expect-error there is no such status
  useSessions(orcha.supportAgent, { status: "open" });
  // @ts-expect-error there is no such metadata
  useSessions(orcha.supportAgent, { metadata: { customerid: "c_1" } });
}

export function Runs(): void {
  const { run, result, evaluations } = useRun(orcha.supportAgent);
  expectTypeOf(run("Hello")).toEqualTypeOf<string>();
  run({ content: "Hello", metadata: { customerId: "c_1" } });
  // @ts-expect-error there is no such metadata
  run({ content: "Hello", metadata: { customerid: "c_1" } });
  if (result?.status === "completed") expectTypeOf(result.output).toEqualTypeOf<SupportAgent["output"]>();
  expectTypeOf(evaluations?.[0]?.name).toEqualTypeOf<"response_quality" | undefined>();
}

export async function prefetching(): Promise<void> {
  await queryClient.prefetchQuery(historyQuery(orcha.supportAgent, "ses_1"));
  await queryClient.ensureQueryData(historyQuery(orcha.supportAgent, "ses_1", { pageSize: 25 }));
  await queryClient.prefetchInfiniteQuery(sessionsQuery(orcha.supportAgent, { status: "active" }));
  // @ts-expect-error there is no such filter
  sessionsQuery(orcha.supportAgent, { statu: "active" });
}
