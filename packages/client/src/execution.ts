import type {
  AgentTypes,
  AnyAgentTypes,
  ErrorDetails,
  EvaluationOutcome,
  RecordedAnswer,
  RunFrame,
  RunResult,
  SessionSnapshot,
} from "@orcha/contract";
import type { WriteOptions } from "./agent-client.ts";
import { readContext, type Connection } from "./connection.ts";
import { abortedBy, OrchaError, toOrchaError, type OrchaErrorCode } from "./error.ts";
import { readEvents } from "./event-stream.ts";
import { isPlainObject } from "./json.ts";
import { LatestStream } from "./latest-stream.ts";
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
export function createExecution({ stop, sessionId, ...work }: Work): Execution<AnyAgentTypes, ExecutionResult> {
  const listening = new Listening({ sessionId, ...work });
  const frames = listening.frames;
  // Nobody has to read these: one that rejects must not end the process.
  listening.result.catch(() => {});
  listening.evaluations.catch(() => {});
  return Object.freeze({
    sessionId,
    get stream() {
      return frames.readable();
    },
    get snapshot() {
      return frames.newest;
    },
    result: listening.result,
    evaluations: listening.evaluations,
    stop,
  });
}

/*
 *   send ──▶ started ──▶ frame* ──▶ result ──▶ evaluations ──▶ end
 *    ▲  │                  │
 *    │  └── refused ───────┼──▶ result "failed"
 *    └── cut: wait, and send again under the same key: the server lets us listen to the same run
 */

/** Listens to one run, through any number of connections. */
class Listening {
  readonly frames = new LatestStream<RunFrame | ExecutionResult>();
  readonly result: Promise<ExecutionResult>;
  readonly evaluations: Promise<EvaluationOutcome[]>;
  private readonly work: Omit<Work, "stop">;
  private settled: ExecutionResult | undefined;
  private resolveResult!: (result: ExecutionResult) => void;
  private rejectResult!: (error: OrchaError) => void;

  constructor(work: Omit<Work, "stop">) {
    this.work = work;
    this.result = new Promise((resolve, reject) => {
      this.resolveResult = resolve;
      this.rejectResult = reject;
    });
    this.evaluations = this.listen().catch((error: unknown) => {
      const failure = toOrchaError(error);
      if (this.settled) return [];
      if (!isOutcomeUnknown(failure)) {
        this.settle(failed(work.sessionId, failure));
        return [];
      }
      this.rejectResult(failure);
      this.frames.fail(failure);
      throw failure;
    });
  }

  private async listen(): Promise<EvaluationOutcome[]> {
    const { options, policy } = this.work;
    // Input is checked, and the key made, once: every connection sends the same.
    const context = await Promise.resolve().then(() => readContext(options));
    let failures = 0;
    for (;;) {
      const heard = { any: false };
      try {
        const evaluations = await this.connect(context, heard);
        if (evaluations) return evaluations;
        throw new OrchaError("network", "the stream was cut");
      } catch (cause) {
        const error = toOrchaError(cause);
        if (options.signal?.aborted) throw abortedBy(options.signal);
        failures = heard.any ? 1 : failures + 1;
        if (!error.retryable || failures >= Math.max(policy.attempts, heard.any ? 2 : 1)) throw error;
        await wait(delayAfter(error, failures, policy), options.signal);
      }
    }
  }

  /** One connection. Answers nothing where it was cut. */
  private async connect(
    context: ReturnType<typeof readContext>,
    heard: { any: boolean },
  ): Promise<EvaluationOutcome[] | undefined> {
    const { operation, input, options, listen } = this.work;
    const controller = new AbortController();
    const abort = (): void => controller.abort();
    options.signal?.addEventListener("abort", abort);
    if (options.signal?.aborted) abort();
    let evaluations: EvaluationOutcome[] = [];
    try {
      const response = await listen(operation, input, context, controller.signal);
      // A proxy that holds streams back may have asked for the plain answer.
      if (!(response instanceof Response)) {
        this.settle(response as ExecutionResult);
        return [];
      }
      for await (const { name, data } of readEvents(response, controller.signal)) {
        heard.any = true;
        // The server's own words, which its contract types; names that this version doesn't know pass by.
        if (name === "frame" && !this.settled) this.frames.push(data as RunFrame);
        if (name === "result") this.settle(data as ExecutionResult);
        if (name === "evaluations") evaluations = data as EvaluationOutcome[];
        if (name === "error") throw fromServer(data);
        if (name === "end") return evaluations;
      }
      return undefined;
    } finally {
      options.signal?.removeEventListener("abort", abort);
      controller.abort();
    }
  }

  private settle(result: ExecutionResult): void {
    if (this.settled) return;
    this.settled = result;
    this.resolveResult(result);
    this.frames.end(result);
  }
}

function failed(sessionId: string, { code, message, retryable, details }: OrchaError): FailedExecution {
  return { status: "failed", sessionId, error: { code, message, retryable, ...(details && { details }) } };
}

function fromServer(data: unknown): OrchaError {
  if (!isPlainObject(data) || !isCode(data["code"])) return new OrchaError("unexpected", "the server's error can't be read");
  const { code, message, retryable, details } = data;
  return new OrchaError(code, String(message), {
    retryable: retryable === true,
    status: 200,
    ...(isPlainObject(details) ? { details } : {}),
  });
}

/** The code of a newer server is what `Unlisted` stands for. */
function isCode(code: unknown): code is OrchaErrorCode {
  return typeof code === "string";
}

/** Without a status no server answered; what was refused before it was sent has a code of the server's all the same. */
function isOutcomeUnknown({ status, code }: OrchaError): boolean {
  if (status !== undefined) return false;
  return code === "network" || code === "timeout" || code === "aborted" || code === "unexpected";
}
