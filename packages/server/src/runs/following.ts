import { OrchaError, type RunResult } from "@orcha/contract";
import type { Current, SessionRef, Store } from "../store/store.ts";
import type { Surroundings } from "../surroundings.ts";
import { readDraft } from "./draft.ts";
import type { RunNews } from "./live-run.ts";
import type { LiveRuns } from "./live-runs.ts";
import { readRunState } from "./outcome.ts";
import type { RunRef } from "./starting.ts";

interface Parts {
  /** Fires when the server is about to end: who follows a run shall ask another one. */
  closing: AbortSignal;
  store: Store;
  surroundings: Surroundings;
  live: LiveRuns;
  /** Told of a session whose run nobody drives any more. */
  onAbandoned: (ref: SessionRef) => void;
}

/** How often a run of another process is looked at, in milliseconds: soon at first, then less often. */
const shortest = 50;
const longest = 500;

/** How long a run is watched that nobody drives, in milliseconds: another server may be about to go on with it. */
const orphanedMs = 60_000;

/** How long the end of a run's evaluations is waited for, in milliseconds. */
const judgingMs = 60_000;

/** Follows runs to their end, wherever they run: this process's own as they happen, others by what they store. */
export class Following {
  private readonly parts: Parts;

  constructor(parts: Parts) {
    this.parts = parts;
  }

  /**
   * Tells of a run from now on, and last of its result and its evaluations. Ends early with the signal or the server. Throws
   * `session_not_found`, and `execution_failed` where no server goes on with the run.
   */
  async *news({ ref, run }: RunRef, given: AbortSignal): AsyncGenerator<RunNews, void> {
    const signal = AbortSignal.any([given, this.parts.closing]);
    let wait = shortest;
    let shown = "";
    let judgingSince: number | undefined;
    let leftSince: number | undefined;
    let told: RunResult | undefined;
    while (!signal.aborted) {
      const live = this.parts.live.get(ref);
      if (live?.number === run) {
        for await (const news of live.news(signal)) {
          if (news.type === "result") told = news.result;
          yield news;
          if (news.type === "evaluations") return;
        }
        if (signal.aborted) return;
      }
      const state = await readRunState(this.parts.store, ref, run);
      if (!state || state.at === "nowhere") throw new OrchaError("session_not_found", `no session ${JSON.stringify(ref.sessionId)} with run ${run}`);
      if (state.at === "end") {
        if (!told) yield { type: "result", result: state.result };
        told = state.result;
        judgingSince ??= Date.now();
        if (state.isJudged || Date.now() - judgingSince > judgingMs) {
          yield { type: "evaluations", evaluations: state.evaluations };
          return;
        }
      } else {
        const text = await this.draftText(ref, run);
        if (text && text.output !== shown) {
          shown = text.output;
          wait = shortest;
          yield { type: "frame", frame: { status: "streaming", sessionId: ref.sessionId, run, ...text } };
        }
        leftSince = this.isDriven(state.current) ? undefined : (leftSince ?? performance.now());
        if (leftSince !== undefined) {
          if (performance.now() - leftSince > orphanedMs) throw orphaned();
          this.parts.onAbandoned(ref);
        }
      }
      await pause(wait, signal);
      wait = Math.min(longest, wait * 1.5);
    }
  }

  /** Waits for a run's result. Throws `session_busy` where the limit, or the server's end, comes first. */
  async result(run: RunRef, limitMs?: number): Promise<RunResult> {
    const controller = new AbortController();
    const timer = limitMs === undefined ? undefined : setTimeout(() => controller.abort(), limitMs);
    try {
      for await (const news of this.news(run, controller.signal)) if (news.type === "result") return news.result;
    } finally {
      clearTimeout(timer);
      controller.abort();
    }
    throw new OrchaError("session_busy", "the run is still at work: the same idempotency key waits on");
  }

  private async draftText(ref: SessionRef, run: number): Promise<{ round: number; output: string } | undefined> {
    const stored = await this.parts.store.draft(ref);
    const draft = stored && readDraft(stored.body);
    return draft?.run === run ? { round: draft.round, output: draft.text } : undefined;
  }

  /** A client's answer takes the lease in the same write, so a run at work without one has been left by its server. */
  private isDriven({ lease }: Current): boolean {
    return lease !== undefined && lease.until > this.parts.surroundings.now();
  }
}

function orphaned(): OrchaError {
  return new OrchaError("execution_failed", "no server goes on with the run: its own is gone, or none has the agent's model; stop() ends it");
}

function pause(milliseconds: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(done, milliseconds);
    signal.addEventListener("abort", done, { once: true });
    function done(): void {
      clearTimeout(timer);
      signal.removeEventListener("abort", done);
      resolve();
    }
  });
}
