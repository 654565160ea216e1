"use client";

import type { AgentTypes, EvaluationOutcome, RunResult } from "@orcha/contract";
import { useQueryClient } from "@tanstack/react-query";
import { useCallback, useState } from "react";
import type { AgentClient, RunInput } from "../agent-client.ts";
import { toOrchaError, type OrchaError } from "../error.ts";
import type { Execution, FailedExecution } from "../execution.ts";
import { sessionsKey } from "./keys.ts";
import { markOpening } from "./opening.ts";
import { unawaited } from "./unawaited.ts";

/** The newest run that a component started. */
export interface StartedRun<T extends AgentTypes> {
  /** Runs the agent in a new session, and gives the session's id at once: `useHistory` may show it right away. */
  run: (input: string | RunInput<T>) => string;
  sessionId: string | undefined;
  isRunning: boolean;
  /** How it ended, also where it failed or waits for a client action. */
  result: RunResult<T> | FailedExecution | undefined;
  /** How it was judged, after the result; empty where it was not. */
  evaluations: EvaluationOutcome<T["evaluations"]>[] | undefined;
  /** Why nobody knows how it ended. */
  error: OrchaError | undefined;
  /** Ends the run at once. Does nothing where none is at work; rejects where it fails, and nobody has to wait for it. */
  stop: () => Promise<void>;
}

interface State<T extends AgentTypes> extends Partial<Pick<StartedRun<T>, "result" | "evaluations" | "error">> {
  execution?: Execution<T>;
}

/** Starts runs of new sessions. They go on whether or not the component stays. */
export function useRun<T extends AgentTypes>(agentClient: AgentClient<T>): StartedRun<T> {
  const queryClient = useQueryClient();
  const [state, setState] = useState<State<T>>({});

  const run = useCallback(
    (input: string | RunInput<T>): string => {
      const execution = agentClient.run(input);
      const refresh = (): void => void queryClient.invalidateQueries({ queryKey: sessionsKey(agentClient) });
      // Of an older run nothing is told any more.
      const tell = (news: State<T>): void => setState((known) => (known.execution === execution ? { ...known, ...news } : known));
      setState({ execution });
      markOpening(execution.sessionId, execution.result);
      execution.result.then((result) => tell({ result }), (error: unknown) => tell({ error: toOrchaError(error) })).finally(refresh);
      execution.evaluations.then((evaluations) => tell({ evaluations }), () => {});
      return execution.sessionId;
    },
    [agentClient, queryClient],
  );

  const { execution, result, evaluations, error } = state;
  return {
    run,
    sessionId: execution?.sessionId,
    isRunning: execution !== undefined && !result && !error,
    result,
    evaluations,
    error,
    stop: () => unawaited(stopOf(execution, result)),
  };
}

async function stopOf(execution: Pick<Execution, "stop"> | undefined, result: unknown): Promise<void> {
  if (execution && !result) await execution.stop();
}
