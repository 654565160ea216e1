import type { SessionRef } from "../store/store.ts";
import type { LiveRun } from "./live-run.ts";

/** The runs that this process drives: at most one a session. */
export class LiveRuns {
  private readonly runs = new Map<string, LiveRun>();

  get(ref: SessionRef): LiveRun | undefined {
    return this.runs.get(nameOf(ref));
  }

  add(ref: SessionRef, run: LiveRun): void {
    this.runs.set(nameOf(ref), run);
  }

  remove(ref: SessionRef, run: LiveRun): void {
    if (this.runs.get(nameOf(ref)) === run) this.runs.delete(nameOf(ref));
  }

  all(): LiveRun[] {
    return [...this.runs.values()];
  }
}

function nameOf({ tenant, agent, sessionId }: SessionRef): string {
  return JSON.stringify([tenant, agent, sessionId]);
}
