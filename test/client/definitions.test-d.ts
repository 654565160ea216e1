import { createOrcha, type ActionTypes, type Metadata, type Unlisted } from "@orcha/client";
import type { AgentTypesOf } from "@orcha/contract";
import { expectTypeOf } from "vitest";
import type { agents } from "./agents.ts";
import { orcha } from "./connection.ts";

// What a client can be made from. Checked by `tsc` alone; nothing here runs.

/** Types without definitions: what an app may write by hand. */
interface PlainAgents {
  supportAgent: {
    metadata: { customerId: string };
    actions: { lookup_order: ActionTypes<{ orderId: string }, { status: string }> };
    clientActions: { request_human_approval: ActionTypes<{ amount: number }, { approved: boolean }> };
    skills: "incident_triage";
    evaluations: never;
    subagents: never;
    output: unknown;
  };
}

export async function plain(): Promise<void> {
  const client = createOrcha<PlainAgents>({ baseUrl: "http://localhost:3000" });
  // @ts-expect-error there is no such agent
  void client.researcher;
  for (const item of (await client.supportAgent.history("ses_1")).items) {
    if (item.type === "action" && item.name === "lookup_order") {
      expectTypeOf(item.arguments).toEqualTypeOf<{ orderId: string } | undefined>();
    }
    if (item.type === "client_action" && item.name === "request_human_approval" && item.status === "waiting") {
      expectTypeOf(item.arguments).toEqualTypeOf<{ amount: number }>();
    }
    if (item.type === "skill") expectTypeOf(item.name).toEqualTypeOf<"incident_triage" | Unlisted>();
    if (item.type === "subagent") expectTypeOf(item.name).toEqualTypeOf<Unlisted>();
  }
}

export function definitions(value: typeof agents): void {
  const inferred = createOrcha({ baseUrl: "http://localhost:3000", agents: value });
  expectTypeOf(inferred).toEqualTypeOf(orcha);
  createOrcha<typeof agents>({ baseUrl: "http://localhost:3000", agents: value });
  // @ts-expect-error not the definitions of these agents
  createOrcha<typeof agents>({ baseUrl: "http://localhost:3000", agents: { supportAgent: value.supportAgent } });
  // @ts-expect-error a server's address is needed
  createOrcha<typeof agents>({});
  // @ts-expect-error without agents there is no client
  void createOrcha({ baseUrl: "http://localhost:3000" }).supportAgent;
}

expectTypeOf<AgentTypesOf<{ metadata: undefined }>["metadata"]>().toEqualTypeOf<Metadata>();
