/** How much a run of the benchmark measures. */
export interface Effort {
  /** Lengths of sessions, in history items, shortest first. */
  lengths: readonly number[];
  /** How many sessions there are to list, fewest first. */
  lists: readonly number[];
  /** Lengths of the sessions that are read in a process of their own. */
  memoryLengths: readonly [number, number];
  /** Processes for each of those. */
  processes: number;
  /** Rounds behind the one that warms up. */
  rounds: number;
  pageSamples: number;
  appendSamples: number;
  /** Turns that each of the writers at once appends in one round. */
  writerTurns: number;
  /** How much of a second one round of load over HTTP takes. */
  httpShare: number;
  /** Runs in one round, by how quick their model is, and how often many run at once. */
  runs: { quick: number; usual: number; crowds: number };
  /** How many readers follow sessions, and how many messages are written for them in one round. */
  tails: number;
  tailWrites: number;
  /** How often a server is started. */
  starts: number;
  /** How many agents an app has whose types are checked. */
  agentCounts: readonly number[];
}

export const fullEffort: Effort = {
  lengths: [100, 10_000, 100_000],
  lists: [1000, 100_000],
  memoryLengths: [1000, 100_000],
  processes: 5,
  rounds: 9,
  pageSamples: 200,
  appendSamples: 40,
  writerTurns: 40,
  httpShare: 1,
  runs: { quick: 20, usual: 3, crowds: 3 },
  tails: 1000,
  tailWrites: 300,
  starts: 7,
  agentCounts: [1, 50, 500],
};

export const quickEffort: Effort = {
  lengths: [100, 10_000],
  lists: [1000, 10_000],
  memoryLengths: [1000, 10_000],
  processes: 3,
  rounds: 5,
  pageSamples: 100,
  appendSamples: 20,
  writerTurns: 15,
  httpShare: 0.4,
  runs: { quick: 10, usual: 2, crowds: 1 },
  tails: 200,
  tailWrites: 100,
  starts: 3,
  agentCounts: [1, 50],
};
