import { sessionName } from "../store/session-name.ts";
import type { SessionRef } from "../store/store.ts";
import type { LiveRun } from "./live-run.ts";

/** The runs that this process drives: at most one a session. */
export class LiveRuns {
  private readonly runs = new Map<string, LiveRun>();

  get(ref: SessionRef): LiveRun | undefined {
    return this.runs.get(sessionName(ref));
  }

  add(ref: SessionRef, run: LiveRun): void {
    this.runs.set(sessionName(ref), run);
  }

  remove(ref: SessionRef, run: LiveRun): void {
    if (this.runs.get(sessionName(ref)) === run) this.runs.delete(sessionName(ref));
  }

  all(): LiveRun[] {
    return [...this.runs.values()];
  }
}
