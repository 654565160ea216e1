import type { Store } from "@orcha/server";
import { median } from "./sampling.ts";

/** Collects how long each step of something takes. */
export class Stopwatch {
  private readonly times = new Map<string, number[]>();

  time<T>(step: string, run: () => T): T {
    const start = performance.now();
    const result = run();
    this.add(step, performance.now() - start);
    return result;
  }

  async timeAsync<T>(step: string, run: () => Promise<T>): Promise<T> {
    const start = performance.now();
    const result = await run();
    this.add(step, performance.now() - start);
    return result;
  }

  /** The median of a step, in microseconds. */
  microseconds(step: string): number {
    return median(this.times.get(step) ?? []) * 1000;
  }

  clear(): void {
    this.times.clear();
  }

  private add(step: string, milliseconds: number): void {
    const times = this.times.get(step);
    if (times) times.push(milliseconds);
    else this.times.set(step, [milliseconds]);
  }
}

/** The same store, with a watch on its page and on its append, and within that on what decides what to write. */
export function watched(store: Store, watch: Stopwatch): Store {
  return {
    ...store,
    historyPage: (ref, query) => watch.timeAsync("store.historyPage", () => store.historyPage(ref, query)),
    append: (ref, lookups, decide) =>
      watch.timeAsync("store.append", () => store.append(ref, lookups, (current) => watch.time("decide", () => decide(current)))),
  };
}
