import type { Agents } from "@orcha/contract";
import { Answers } from "../answers.ts";
import type { Changes } from "../changes.ts";
import type { OnError } from "../failure.ts";
import type { Idempotency } from "../idempotency.ts";
import type { Reading } from "../reading.ts";
import type { SessionRef, Store } from "../store/store.ts";
import { within } from "../store/wait.ts";
import type { Surroundings } from "../surroundings.ts";
import { Tailing } from "../tail/tailing.ts";
import { Delegating } from "./delegating.ts";
import { Evaluating } from "./evaluating.ts";
import { Following } from "./following.ts";
import type { AnyImplementations } from "./implementation.ts";
import { Interrupting } from "./interrupting.ts";
import { leaseTerms } from "./lease-keeper.ts";
import { LiveRuns } from "./live-runs.ts";
import { Recovery } from "./recovery.ts";
import { Reporting } from "./reporting.ts";
import { Runner, type ModelFor } from "./runner.ts";
import { Runs } from "./runs.ts";
import { Starting } from "./starting.ts";

interface Parts {
  agents: Agents;
  store: Store;
  reading: Reading;
  changes: Changes;
  idempotency: Idempotency;
  surroundings: Surroundings;
}

/** Wires everything that runs agents. */
export function createRuns(given: Parts, implementations: AnyImplementations, leaseMs: number, onError: OnError, modelFor?: ModelFor) {
  const live = new LiveRuns();
  const evaluating = new Evaluating({ ...given, onError });
  let isClosing = false;
  const closing = new AbortController();

  const reporting = new Reporting({ ...given, onError });
  const shared = { ...given, live, leases: leaseTerms(leaseMs), onError, reporting };
  // What this server leaves to others as it ends, it doesn't take up again.
  const onAbandoned = (ref: SessionRef): void => void (isClosing || recovery.attend(ref));
  const following = new Following({ ...shared, closing: closing.signal, onAbandoned });
  const interrupting = new Interrupting(shared);
  const delegating = new Delegating({
    ...shared,
    following,
    // Runs start runs: these are there before the first one can.
    delegates: () => ({
      run: (call, input, lineage) => starting.run(call, input, lineage),
      // Not as a caller would: a server that takes no new runs lets those under way end, with what they delegate.
      resume: async (call, input) => {
        const started = await (input.toolResults === undefined ? starting.goOn(call, input) : answers.answer(call, input));
        if ("ref" in started) return started;
        throw new Error("the agent of that session doesn't run on this server");
      },
      interrupt: (kind, call, input) => interrupting[kind](call, input),
    }),
  });
  const runner = new Runner({
    ...shared,
    implementations,
    evaluating,
    modelFor,
    delegation: (delegator) => delegating.tools(delegator),
  });
  const recovery = new Recovery({ ...shared, runner, evaluating });
  const starting = new Starting({ ...shared, runner, onAbandoned });
  const answers = new Answers({ ...shared, runner, recovery });
  const tailing = new Tailing(shared);
  const runs = new Runs({ starting, answers, following, interrupting, runner, isClosing: () => isClosing });

  async function drain(limitMs: number): Promise<void> {
    isClosing = true;
    tailing.drain();
    const start = performance.now();
    await within(Promise.all(live.all().map(({ ended }) => ended)), limitMs);
    // Some may have begun meanwhile: with an answer, or as children.
    const left = live.all();
    for (const run of left) run.handOver();
    await Promise.all(left.map(({ ended }) => ended));
    await evaluating.close(Math.max(0, limitMs - (performance.now() - start)));
    // Last, so that whoever listens hears how a run was judged meanwhile.
    closing.abort();
  }

  return { runs, recovery, tailing, reporting, drain };
}
