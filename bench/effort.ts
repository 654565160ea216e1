/** How much a run of the benchmark measures. */
export interface Effort {
  /** Lengths of sessions, in history items, shortest first. */
  lengths: readonly number[];
  /** Rounds behind the one that warms up. */
  rounds: number;
  pageSamples: number;
  appendSamples: number;
}

export const fullEffort: Effort = { lengths: [100, 10_000, 100_000], rounds: 9, pageSamples: 200, appendSamples: 40 };
export const quickEffort: Effort = { lengths: [100, 10_000], rounds: 5, pageSamples: 100, appendSamples: 20 };
