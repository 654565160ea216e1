import type { SessionEvents, SessionList, SessionSnapshot } from "@orcha/contract";
import { damagedEvent, type ExportSource } from "../export-source.ts";
import { ServerFailure } from "./remote.ts";
import type { Target } from "./target.ts";

/** Reads what an export needs from a server, in pages that are pinned to their last event. */
export function remoteSource(target: Target): ExportSource {
  return {
    chunk: 100,
    list: (input) => target.call<SessionList>("list", input),
    sequenceOf: (name) => found(async () => (await target.call<SessionSnapshot>("get", name)).sequence),
    bodies: (name, from, to) =>
      found(async () => {
        const { events } = await target.call<SessionEvents>("events", { ...name, page: 1, pageSize: to - from + 1, throughSequence: to });
        const types: readonly string[] = events.map(({ type }) => type);
        const damaged = types.indexOf("unreadable");
        if (damaged !== -1) throw damagedEvent(name, from + damaged);
        return events.map((event) => JSON.stringify(event));
      }),
  };
}

async function found<T>(read: () => Promise<T>): Promise<T | undefined> {
  try {
    return await read();
  } catch (error) {
    const isGone = error instanceof ServerFailure && (error.code === "session_not_found" || error.code === "agent_not_found");
    if (isGone) return undefined;
    throw error;
  }
}
