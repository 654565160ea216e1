import type { Interruption } from "@orcha/agent/loop";
import type { DelegatingRun, EvaluationOutcome, RunResult, StreamingRun } from "@orcha/contract";

/** What a listener gets to know of a run, oldest first; the text in between may be skipped. */
export type RunNews =
  | { type: "frame"; frame: StreamingRun | DelegatingRun }
  | { type: "result"; result: RunResult }
  | { type: "evaluations"; evaluations: readonly EvaluationOutcome[] };

/** A run that this process drives. Listeners see the newest state: a slow one misses texts in between, never the end. */
export class LiveRun {
  readonly number: number;
  /** Settles when the run has ended, paused, or been lost to another process; never rejects. */
  readonly ended: Promise<RunResult | undefined>;
  /** Settles after `ended`. */
  readonly evaluated: Promise<readonly EvaluationOutcome[]>;
  private frame: StreamingRun | DelegatingRun | undefined;
  isHandedOver = false;
  private version = 0;
  private readonly controller = new AbortController();
  private wakers = new Set<() => void>();
  private settleEnd: (result: RunResult | undefined) => void = noop;
  private settleEvaluations: (outcomes: readonly EvaluationOutcome[]) => void = noop;

  constructor(number: number) {
    this.number = number;
    this.ended = new Promise((resolve) => (this.settleEnd = resolve));
    this.evaluated = new Promise((resolve) => (this.settleEvaluations = resolve));
  }

  get signal(): AbortSignal {
    return this.controller.signal;
  }

  interrupt(reason: Interruption): void {
    this.controller.abort(reason);
  }

  /** Leaves the run to another server, which may take it at once. */
  handOver(): void {
    this.isHandedOver = true;
    this.interrupt("lost");
  }

  /** What was shown last. */
  get shown(): StreamingRun | DelegatingRun | undefined {
    return this.frame;
  }

  /** Calls whenever something else is shown, until the answer is called. */
  onShow(call: () => void): () => void {
    this.wakers.add(call);
    return () => this.wakers.delete(call);
  }

  show(frame: StreamingRun | DelegatingRun): void {
    this.frame = frame;
    this.version += 1;
    this.wake();
  }

  /** Shows nothing any more: the text is in the log now, and whoever comes finds it there. */
  hide(): void {
    this.frame = undefined;
  }

  end(result: RunResult | undefined, evaluations: Promise<readonly EvaluationOutcome[]>): void {
    this.settleEnd(result);
    evaluations.then(this.settleEvaluations, () => this.settleEvaluations([]));
    this.wake();
  }

  /** Tells what happens from now on. Ends without a result where another process has the run now. */
  async *news(signal: AbortSignal): AsyncGenerator<RunNews, void> {
    let seen = 0;
    let result: RunResult | undefined | "none" = "none";
    void this.ended.then((ended) => (result = ended));
    while (!signal.aborted) {
      if (this.version > seen && this.frame) {
        seen = this.version;
        yield { type: "frame", frame: this.frame };
        continue;
      }
      // Settled promises are told of in a microtask; the last frame came before.
      await Promise.resolve();
      if (result !== "none") break;
      if (this.version === seen) await this.change(signal);
    }
    if (signal.aborted || result === "none" || result === undefined) return;
    yield { type: "result", result };
    const evaluations = await Promise.race([this.evaluated, aborted(signal)]);
    if (evaluations) yield { type: "evaluations", evaluations };
  }

  private change(signal: AbortSignal): Promise<void> {
    return new Promise((resolve) => {
      const done = (): void => {
        this.wakers.delete(done);
        signal.removeEventListener("abort", done);
        resolve();
      };
      this.wakers.add(done);
      signal.addEventListener("abort", done);
    });
  }

  private wake(): void {
    for (const waker of this.wakers) waker();
  }
}

function aborted(signal: AbortSignal): Promise<undefined> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve(undefined);
    else signal.addEventListener("abort", () => resolve(undefined), { once: true });
  });
}

function noop(): void {}
