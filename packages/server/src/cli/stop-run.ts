import { isOrchaError, type AnyAgentTypes, type Execution, type ExecutionResult } from "@orcha/client";
import { within } from "../store/wait.ts";

/** A run as the commands know it. */
export type AnyExecution = Execution<AnyAgentTypes, ExecutionResult>;

/** Stops a run, also one whose session is still to be made. Throws where the server refuses. */
export async function stopRun({ result, stop }: AnyExecution): Promise<void> {
  const over = result.then(
    () => true,
    () => true,
  );
  for (;;) {
    try {
      await stop();
      return;
    } catch (error) {
      if (!isOrchaError(error) || error.code !== "session_not_found") throw error;
      if ((await within(over, 50)) === true) return;
    }
  }
}
