import { interruptionOf } from "./interruption.ts";
import { gaveUp, untilAborted } from "./waiting.ts";

/** How a tool's work ended. Work that was given up may still go on, unheard. */
export type WorkEnd<T> = { type: "done"; value: T } | { type: "failed"; error: unknown } | { type: "given up" };

/**
 * What a run's signal means for work that a tool does: a stop is told to it, and after a grace it is waited for no
 * longer; a lost run doesn't wait at all; a pause lets it end, told of it only where it `hearsPause`.
 */
export class Work {
  /** For the tool. */
  readonly signal: AbortSignal;
  private readonly told = new AbortController();
  private readonly patience = new AbortController();
  private readonly run: AbortSignal;
  private readonly graceMs: number;
  private readonly hearsPause: boolean;
  private timer: ReturnType<typeof setTimeout> | undefined;

  constructor(run: AbortSignal, options: { graceMs: number; hearsPause?: boolean }) {
    this.run = run;
    this.graceMs = options.graceMs;
    this.hearsPause = options.hearsPause ?? false;
    this.signal = this.told.signal;
    if (run.aborted) this.hear();
    else run.addEventListener("abort", this.hear, { once: true });
  }

  /** Waits for work, as long as the run's signal lets it. */
  async end<T>(begin: (signal: AbortSignal) => Promise<T>): Promise<WorkEnd<T>> {
    try {
      // Started in a promise of its own, so that work which throws at once fails like any other.
      const value = await untilAborted(Promise.resolve().then(() => begin(this.signal)), this.patience.signal);
      return value === gaveUp ? { type: "given up" } : { type: "done", value };
    } catch (error) {
      return { type: "failed", error };
    }
  }

  /** Lets go of the run's signal. What still works then is told to stop. */
  close(isOver: boolean): void {
    this.run.removeEventListener("abort", this.hear);
    clearTimeout(this.timer);
    if (!isOver) this.told.abort(this.run.reason);
  }

  private readonly hear = (): void => {
    const how = interruptionOf(this.run);
    if (how !== "pause" || this.hearsPause) this.told.abort(this.run.reason);
    if (how === "lost") this.patience.abort();
    else if (how === "stop") this.timer = setTimeout(() => this.patience.abort(), this.graceMs);
  };
}
