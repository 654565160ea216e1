import type { SessionEvents, SessionList, SessionSnapshot } from "@orcha/contract";
import { damagedEvent, type ExportSource } from "../export-source.ts";
import { ServerFailure } from "./remote.ts";
import type { Target } from "./target.ts";

/** Reads what an export needs from a server, in pages that are pinned to their last event. */
export function remoteSource(target: Target): ExportSource {
  return {
    chunk: 100,
    list: (input) => target.call<SessionList>("list", input),
    async sequenceOf(name) {
      const snapshot = await found(target.call<SessionSnapshot>("get", name));
      return typeof snapshot === "string" ? snapshot : snapshot.sequence;
    },
    async bodies(name, from, to) {
      const page = await found(target.call<SessionEvents>("events", { ...name, page: 1, pageSize: to - from + 1, throughSequence: to }));
      if (typeof page === "string") return undefined;
      const types: readonly string[] = page.events.map(({ type }) => type);
      const damaged = types.indexOf("unreadable");
      if (damaged !== -1) throw damagedEvent(name, from + damaged);
      return page.events.map((event) => JSON.stringify(event));
    },
  };
}

async function found<T>(answer: Promise<T>): Promise<T | "none" | "hidden"> {
  try {
    return await answer;
  } catch (error) {
    const code = error instanceof ServerFailure ? error.code : undefined;
    if (code === "session_not_found") return "none";
    if (code === "agent_not_found") return "hidden";
    throw error;
  }
}
