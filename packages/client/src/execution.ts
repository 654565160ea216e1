import type {
  AgentTypes,
  AnyAgentTypes,
  ErrorDetails,
  EvaluationOutcome,
  RecordedAnswer,
  RunFrame,
  RunResult,
  SessionSnapshot,
  StreamingRun,
} from "@orcha/contract";
import type { WriteOptions } from "./agent-client.ts";
import { readContext, type Connection } from "./connection.ts";
import type { CallContext } from "./http.ts";
import { abortedBy, OrchaError, toOrchaError, type OrchaErrorCode } from "./error.ts";
import { fromServer, readEvents } from "./event-stream.ts";
import { createLatestStream } from "./latest-stream.ts";
import type { RetryOptions } from "./options.ts";
import { delayAfter, wait } from "./retry.ts";

/** A failure that is known to be one: the server refused, or the input could not be sent. */
export interface FailedExecution {
  status: "failed";
  sessionId: string;
  error: { code: OrchaErrorCode; message: string; retryable: boolean; details?: ErrorDetails };
}

/** How a resume ended; narrow by `status`. */
export type ExecutionResult<T extends AgentTypes = AnyAgentTypes> = RunResult<T> | RecordedAnswer<T> | FailedExecution;

/** Work on a session that is under way, whether or not anyone reads its result. */
export interface Execution<T extends AgentTypes = AnyAgentTypes, Result = RunResult<T> | FailedExecution> {
  /** There at once, also for a session that is still to be made. */
  readonly sessionId: string;
  /**
   * The run at a glance, again and again: the newest state wins, text only grows within a round, and the last frame is
   * the result. For one reader; cancelling it leaves the run alone.
   */
  readonly stream: ReadableStream<RunFrame<T> | Result>;
  /** The newest frame; absent until there is one. */
  readonly snapshot: RunFrame<T> | Result | undefined;
  /** Resolves for expected failures too; rejects with `OrchaError` only where the outcome is unknown. */
  readonly result: Promise<Result>;
  /** How the run was judged, after the result; empty where it was not. Rejects where the result does. */
  readonly evaluations: Promise<EvaluationOutcome<T["evaluations"]>[]>;
  /** Ends the run at once: the result has the status "stopped". */
  stop: (options?: WriteOptions) => Promise<SessionSnapshot<T>>;
}

/** What an execution does. */
export interface Work {
  operation: "run" | "resume";
  input: object;
  sessionId: string;
  options: WriteOptions;
  listen: Connection["listen"];
  policy: Required<RetryOptions>;
  stop: (options?: WriteOptions) => Promise<SessionSnapshot>;
}

/** Starts the work at once. */
export function createExecution(work: Work): Execution<AnyAgentTypes, ExecutionResult> {
  const { sessionId } = work;
  const { frames, result, evaluations, hasBegun } = listenTo(work);
  // Nobody has to read these: one that rejects must not end the process.
  result.catch(() => {});
  evaluations.catch(() => {});
  return Object.freeze({
    sessionId,
    get stream() {
      return frames.readable();
    },
    get snapshot() {
      return frames.newest();
    },
    result,
    evaluations,
    async stop(options?: WriteOptions) {
      // One that overtakes its run finds none. Where streams can't be read, nobody tells that there is one.
      for (let tries = 0; tries < 20 && !hasBegun(); tries += 1) await wait(25);
      return work.stop(options);
    },
  });
}

/*
 *   send ──▶ started ──▶ frame* ──▶ result ──▶ evaluations ──▶ end
 *    ▲  │                  │
 *    │  └── refused ───────┼──▶ result "failed"
 *    └── cut: wait, and send again under the same key: the server lets us listen to the same run
 */

/** Listens to one run, through any number of connections. */
function listenTo({ operation, input, sessionId, options, listen, policy }: Work) {
  const { signal } = options;
  const frames = createLatestStream<RunFrame | ExecutionResult>();
  let settled: ExecutionResult | undefined;
  /** Events of all connections. With the first stream that opens the run is there, whatever becomes of the connection. */
  let heard = 0;
  let text: Pick<StreamingRun, "round" | "output"> = { round: -1, output: "" };
  let resolveResult: (result: ExecutionResult) => void;
  let rejectResult: (error: OrchaError) => void;
  const result = new Promise<ExecutionResult>((resolve, reject) => {
    resolveResult = resolve;
    rejectResult = reject;
  });

  function settle(end: ExecutionResult): void {
    if (settled) return;
    settled = end;
    resolveResult(end);
    frames.end(end);
  }

  /** What a server knows that took the run over, or only watches it, may be older than what was shown. */
  function show(frame: RunFrame): void {
    if (settled) return;
    if (frame.status === "streaming") {
      if ((frame.round - text.round || frame.output.length - text.output.length) <= 0) return;
      text = frame;
    }
    frames.push(frame);
  }

  /** One connection. Answers nothing where it was cut. */
  async function connect(context: CallContext): Promise<EvaluationOutcome[] | undefined> {
    const controller = new AbortController();
    const abort = (): void => controller.abort();
    signal?.addEventListener("abort", abort);
    if (signal?.aborted) abort();
    let evaluations: EvaluationOutcome[] = [];
    try {
      const answer = await listen(operation, input, context, controller.signal);
      // Where streams can't be read, the server waits with its answer.
      if (!answer.headers) {
        settle(answer as ExecutionResult);
        return [];
      }
      heard ||= 1;
      for await (const { name, data } of readEvents(answer, controller.signal)) {
        heard += 1;
        // The server's own words, which its contract types; names that this version doesn't know pass by.
        if (name === "frame") show(data as RunFrame);
        if (name === "result") settle(data as ExecutionResult);
        if (name === "evaluations") evaluations = data as EvaluationOutcome[];
        if (name === "error") throw fromServer(data);
        if (name === "end" && settled) return evaluations;
      }
      return undefined;
    } finally {
      signal?.removeEventListener("abort", abort);
      controller.abort();
    }
  }

  async function listenOn(): Promise<EvaluationOutcome[]> {
    // Input is checked, and the key made, once: every connection sends the same.
    const context = readContext(options);
    for (let failures = 0; ; ) {
      const before = heard;
      try {
        const evaluations = await connect(context);
        if (evaluations) return evaluations;
        throw new OrchaError("network", "the stream was cut");
      } catch (cause) {
        const error = toOrchaError(cause);
        if (signal?.aborted) throw abortedBy(signal);
        // A run may outlast any number of connections; what goes wrong otherwise may do so only so often.
        failures = heard > before && error.code === "network" ? 0 : failures + 1;
        // Whatever stands between us and a run that is there may be gone the next time.
        const mayPass = error.retryable || (heard && error.code === "unexpected");
        if (!mayPass || failures >= policy.attempts) throw error;
        await wait(delayAfter(error, failures || 1, policy), signal);
      }
    }
  }

  const evaluations = listenOn().catch((error: unknown) => {
    const failure = toOrchaError(error);
    if (settled) return [];
    if (isOutcomeUnknown(failure) || (heard && failure.retryable)) {
      rejectResult(failure);
      frames.fail(failure);
      throw failure;
    }
    settle(failed(sessionId, failure));
    return [];
  });
  return { frames, result, evaluations, hasBegun: () => heard || settled };
}

function failed(sessionId: string, { code, message, retryable, details }: OrchaError): FailedExecution {
  return { status: "failed", sessionId, error: { code, message, retryable, ...(details && { details }) } };
}

/** Without a status no server answered; only what was refused before it was sent is known all the same. */
function isOutcomeUnknown({ status, code }: OrchaError): boolean {
  return status === undefined && code !== "invalid_input";
}
