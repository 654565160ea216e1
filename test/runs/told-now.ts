import { randomUUID } from "node:crypto";
import type { RunClient } from "./bed.ts";

/** The types of what a tail that is opened now tells, up to a news that is made when it is ready. */
export async function toldNow(orcha: RunClient, sessionId: string): Promise<string[]> {
  const name = randomUUID();
  const told: string[] = [];
  for await (const frame of orcha.supportAgent.tail(sessionId)) {
    told.push(frame.type);
    if (frame.type === "ready") await orcha.supportAgent.update(sessionId, { name });
    if (frame.type === "snapshot" && frame.snapshot.name === name) break;
  }
  return told;
}
