import type { ExecutionResult } from "@orcha/client";
import { within } from "../store/wait.ts";
import type { LiveTranscript } from "./live-transcript.ts";
import type { AnyExecution } from "./stop-run.ts";

/** How long a silent run is left alone before its history is looked at, in milliseconds. */
const shortest = 400;
const longest = 3000;

/** Shows a run until it ends or waits. Rejects where its result does. */
export async function watch(execution: AnyExecution, transcript: LiveTranscript): Promise<ExecutionResult> {
  const reader = execution.stream.getReader();
  let patience = shortest;
  let next = reader.read();
  for (;;) {
    const step = await within(next, patience);
    if (step === undefined) {
      patience = Math.min(longest, patience * 2);
      await transcript.wait();
      continue;
    }
    if (step.done) break;
    patience = shortest;
    const frame = step.value;
    if (frame.status === "streaming") await transcript.grow(frame.round, frame.output);
    next = reader.read();
  }
  const result = await execution.result;
  await transcript.end("output" in result ? result.output : undefined);
  return result;
}
