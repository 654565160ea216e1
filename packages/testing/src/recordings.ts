import { exportSessions } from "@orcha/server";
import type { Stage } from "./stage.ts";

/** A fixture that was told once, as a file of its sessions. */
export interface Recording {
  bundle: string;
  /** How many ids had been made by then. */
  ids: number;
}

/** What a mock keeps from life to life, by fixture: telling takes long, reading a file doesn't. */
export type Recordings = Map<string, Recording>;

/** Records a session and those that it delegated; nothing where something is still at work, which no file can hold. */
export async function record({ agents, store, surroundings, tenant, ids, clientOf }: Stage, agent: string, sessionId: string): Promise<Recording | undefined> {
  const { runStatus } = await clientOf(agent).get(sessionId);
  if (runStatus === "running" || runStatus === "waiting_for_subagent") return undefined;
  const call = { principal: { tenant, scopes: ["log"] as const } };
  let bundle = "";
  for await (const line of exportSessions({ agents, store, surroundings }, call, { agent, sessionIds: [sessionId] })) bundle += line;
  return { bundle, ids: ids.sessions };
}
