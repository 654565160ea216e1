import { actionRound } from "./action-round.ts";
import { faultOf } from "./fault.ts";
import { interruptionOf } from "./interruption.ts";
import type { LoopInput } from "./loop-input.ts";
import type { LoopEnd, LoopStep } from "./loop-step.ts";
import { modelRound } from "./model-round.ts";
import { RunState, type Ending } from "./run-state.ts";

/*
 * The circle of a run:
 *
 *            ┌──────────────── every call has its result ◀───────────────┐
 *            ▼                                                           │
 *   start ─▶ model round ── calls ─▶ skills ─▶ actions ─▶ silent ─▶ subagents ─▶ client actions
 *            │                 ▲                                         │
 *            │                 └── a resumed run with an open round      │
 *            ▼                                                           ▼
 *   completed | failed | stopped | paused | lost       waiting_for_client_action
 *
 * A run ends when:
 *   completed   the model answered without calls
 *   waiting     a client action has no result yet
 *   failed      the provider failed for good, the answer was cut or unreadable (provider_error);
 *               the model wants to act once more than `maxRounds`, a tool threw a RunFailure, or something threw
 *               that nobody expected to (execution_failed)
 *   stopped     the signal says stop: what was shown is kept, and work that doesn't end at once is given up
 *   paused      the signal says pause: the action at work ends, no other one begins
 *   lost        the signal says lost: nothing more is done or said
 */

/**
 * Runs an agent until it ends or waits, as events of the log. A step's events are to be stored before the next step is
 * asked for: nothing is done that the log doesn't say. Failures of the model and of tools are ends and results, never
 * thrown.
 */
export async function* runLoop(input: LoopInput): AsyncGenerator<LoopStep, LoopEnd> {
  const run = new RunState(input);
  try {
    return yield* rounds(run);
  } catch (error) {
    // Begun anew elsewhere, it would fail there as well.
    const message = faultOf(error, "the run failed for a reason that nobody told");
    return yield* ending(input, run.failed({ code: "execution_failed", message, retryable: false }));
  }
}

async function* rounds(run: RunState): AsyncGenerator<LoopStep, LoopEnd> {
  const { input } = run;
  let open = input.resume?.open;
  for (;;) {
    if (!open) {
      const round = yield* modelRound(run);
      if (round.type === "ended") return yield* ending(input, round.ending);
      // What the model said last is for the process that has the run now to hear again.
      if (interruptionOf(input.signal) === "lost") return { status: "lost" };
      run.actionRounds += 1;
      yield { type: "events", events: [round.message] };
      open = { calls: round.calls, results: new Map(), requested: new Set(), delegated: new Map() };
    }
    const ended = yield* actionRound(run, open);
    if (ended) return yield* ending(input, ended);
    open = undefined;
  }
}

async function* ending({ signal }: LoopInput, { events, end }: Ending): AsyncGenerator<LoopStep, LoopEnd> {
  if (interruptionOf(signal) === "lost") return { status: "lost" };
  if (events.length > 0) yield { type: "events", events };
  return end;
}
