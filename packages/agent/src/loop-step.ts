import type { ClientActionCall, EventError, EventInput, Usage } from "@orcha/contract";

/**
 * One step of a run. Whoever drives the loop stores a step's events before asking for the next step: nothing is done
 * that the log doesn't say.
 */
export type LoopStep =
  | { type: "events"; events: readonly EventInput[] }
  /**
   * The visible text of the answer in the making: it only grows within a round, each time by its `delta`. Rounds count the
   * run's assistant turns before it.
   */
  | { type: "text"; round: number; text: string; delta: string };

/** How a run, or its part up to a pause, ended. The log says the same. */
export type LoopEnd =
  | { status: "completed"; output: unknown; usage?: Usage }
  | { status: "waiting_for_client_action"; calls: readonly ClientActionCall[]; usage?: Usage }
  | { status: "paused" | "stopped"; output?: string; usage?: Usage }
  | { status: "failed"; error: EventError; usage?: Usage }
  /** Another process has the run now: nothing more was done or said. */
  | { status: "lost" };

/**
 * Why a run is interrupted, as the reason of its signal: `stop` ends it at once, `pause` lets the action at work finish,
 * `lost` leaves everything to the process that has the run now. Any other reason counts as `stop`.
 */
export type Interruption = "stop" | "pause" | "lost";
