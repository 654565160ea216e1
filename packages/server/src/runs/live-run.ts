import type { Interruption } from "@orcha/agent/loop";
import type { DelegatingRun, EvaluationOutcome, RunResult, StreamingRun } from "@orcha/contract";

/** What a listener gets to know of a run, oldest first; the text in between may be skipped. */
export type RunNews =
  | { type: "frame"; frame: StreamingRun | DelegatingRun }
  | { type: "result"; result: RunResult }
  | { type: "evaluations"; evaluations: readonly EvaluationOutcome[] };

/** How long one text stands before the next is told, in milliseconds: a model's pieces come faster than anyone reads. */
const textMs = 20;

/** A run that this process drives. Listeners see the newest state: a slow one misses texts in between, never the end. */
export class LiveRun {
  readonly number: number;
  /** Settles when the run has ended, paused, or been lost to another process; never rejects. */
  readonly ended: Promise<RunResult | undefined>;
  /** Settles after `ended`. */
  readonly evaluated: Promise<readonly EvaluationOutcome[]>;
  private frame: StreamingRun | DelegatingRun | undefined;
  private isLogged = false;
  isHandedOver = false;
  private isEnded = false;
  private version = 0;
  private readonly controller = new AbortController();
  /** Called at each change, and those of `enders` at the end only. */
  private readonly wakers = new Set<() => void>();
  private readonly enders = new Set<() => void>();
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

  /** What was shown last, unless it is in the log. */
  get shown(): StreamingRun | DelegatingRun | undefined {
    return this.isLogged ? undefined : this.frame;
  }

  /** Calls whenever something else is shown, until the answer is called. */
  onShow(call: () => void): () => void {
    this.wakers.add(call);
    return () => this.wakers.delete(call);
  }

  show(frame: StreamingRun | DelegatingRun): void {
    this.frame = frame;
    this.isLogged = false;
    this.version += 1;
    this.wake();
  }

  /** The text is in the log now: whoever comes finds it there. */
  hide(): void {
    this.isLogged = true;
  }

  end(result: RunResult | undefined, evaluations: Promise<readonly EvaluationOutcome[]>): void {
    this.isEnded = true;
    this.settleEnd(result);
    evaluations.then(this.settleEvaluations, () => this.settleEvaluations([]));
    this.wake();
    for (const ender of this.enders) ender();
  }

  /** Tells what happens from now on. Ends without a result where another process has the run now. */
  async *news(signal: AbortSignal): AsyncGenerator<RunNews, void> {
    let seen = 0;
    while (!signal.aborted) {
      if (this.version > seen && this.frame) {
        seen = this.version;
        yield { type: "frame", frame: this.frame };
        if (!this.isEnded) await this.wait(this.enders, signal, textMs);
        continue;
      }
      // Nothing may come between this and the wait: an end that is told to nobody would be waited for for ever.
      if (this.isEnded) break;
      await this.wait(this.wakers, signal);
    }
    // Also where the signal came with it: a server that ends as its last run does owes its listeners the result.
    const result = this.isEnded ? await this.ended : undefined;
    if (result === undefined) return;
    yield { type: "result", result };
    const evaluations = await Promise.race([this.evaluated, aborted(signal)]);
    if (evaluations) yield { type: "evaluations", evaluations };
  }

  /** Waits to be woken, for the signal, or for the limit. */
  private wait(wakers: Set<() => void>, signal: AbortSignal, limitMs?: number): Promise<void> {
    return new Promise((resolve) => {
      const timer = limitMs === undefined ? undefined : setTimeout(done, limitMs);
      wakers.add(done);
      signal.addEventListener("abort", done);
      if (signal.aborted) done();

      function done(): void {
        clearTimeout(timer);
        wakers.delete(done);
        signal.removeEventListener("abort", done);
        resolve();
      }
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
