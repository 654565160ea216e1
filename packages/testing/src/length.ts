import type { AgentDefinition, Agents, AnyAgentTypes } from "@orcha/contract";
import { readTime } from "./clock.ts";
import type { AnyEntry, SessionFixture } from "./scenario.ts";
import { callsOf } from "./step.ts";

type AnyFixture = SessionFixture<AnyAgentTypes, Agents>;

/** When a fixture begins that doesn't say so: early enough for the first time that it says, or else to be over at `end`. */
export function startOf(fixture: AnyFixture, end: number, definition?: AgentDefinition): number {
  const history = (fixture.history ?? []) as readonly AnyEntry[];
  const place = history.findIndex((entry) => entry.user !== undefined && entry.at !== undefined);
  const timed = history[place];
  if (timed?.user === undefined || timed.at === undefined) return end - lengthOf(fixture, definition);
  const before = place === 0 ? 0 : 1000 + lengthOf({ history: history.slice(0, place) }, definition);
  return readTime(timed.at, "at") - before;
}

/** How long a fixture takes from its first event to its last, in milliseconds: each thing in a conversation takes a second. */
function lengthOf(fixture: AnyFixture, { clientActions = {} }: AgentDefinition = {}): number {
  const [first, second] = fixture.history ?? [];
  // What the user says first opens the session, unless nothing comes of it.
  const opens = first?.user !== undefined && second !== undefined && second.user === undefined && second.stopped === undefined;
  let length = (opens ? -1000 : 0) + ("ended" in fixture && fixture.ended !== undefined ? 1000 : 0);
  for (const entry of (fixture.history ?? []) as readonly AnyEntry[]) {
    if (entry.stopped) continue;
    const calls = entry.user === undefined ? callsOf(entry) : [];
    const others = calls.reduce((sum, call) => sum + (call.subagent === undefined ? 0 : (call.steps?.length ?? 1) * 1000), 0);
    const waits = calls.flatMap((call) => {
      if (call.clientAction === undefined) return [];
      if (call.outcome === "expired") return [clientActions[call.clientAction]?.expiresInMs ?? 0];
      return call.outcome === "denied" || Object.hasOwn(call, "output") ? [1000] : [];
    });
    length += 1000 + others + Math.max(0, ...waits);
  }
  return length;
}
