import { errorTable, OrchaError, type ErrorCode, type ErrorDetails, type OperationName } from "@orcha/contract";
import { cuttable, type Cut, type Cuttable } from "./cuttable.ts";
import { operationNames, operationOf, type Operation } from "./operation.ts";

/** How a request fails: with an error of the table, with no connection, or with no answer at all. */
export type Failure =
  | ErrorCode
  | "network"
  | "timeout"
  | { code: ErrorCode; message?: string; details?: ErrorDetails; retryable?: boolean };

/** The operations that answer streams. */
export type StreamedOperation = "run" | "resume" | "tail";

/** A request that came through the network. */
export interface MockRequest {
  operation: OperationName;
  /** What was asked for, as it was sent. */
  input: Readonly<Record<string, unknown>>;
  headers: Headers;
  /** Absent until there is an answer, and where none came. */
  status?: number;
}

/** Answers a request; throws the error that `refusal` says. */
export type Answer = (request: Request, refusal: OrchaError | undefined) => Promise<Response>;

interface Open {
  operation: OperationName;
  sessionId: unknown;
  stream: Cuttable;
}

/** What lies between the app and the mock: it notes what is asked for, and breaks where a test says so. */
export class Network {
  readonly requests: MockRequest[] = [];
  private readonly failures: { operation: OperationName; failure: Failure; times: number }[] = [];
  private readonly cuts: { operation: StreamedOperation; cut: Cut }[] = [];
  private readonly open = new Set<Open>();
  private readonly closing = new AbortController();
  private readonly former: ReadonlySet<string>;

  /** `former` are the keys of writes that belong to tests which are over. */
  constructor(former: ReadonlySet<string>) {
    this.former = former;
  }

  /** Whether the test that this network is for is over. */
  get isOver(): boolean {
    return this.closing.signal.aborted;
  }

  failNext(operation: OperationName, failure: Failure, times: number): void {
    check("failNext", "operation", operation, operationNames);
    check("failNext", "failure", typeof failure === "string" ? failure : failure.code, [...Object.keys(errorTable), "network", "timeout"]);
    if (!(Number.isInteger(times) && times >= 1)) throw new TypeError(`failNext: times must be an integer of 1 or more, not ${String(times)}`);
    this.failures.push({ operation, failure, times });
  }

  cutNext(operation: StreamedOperation, cut: Cut): void {
    check("cutNext", "operation", operation, streamed);
    if (cut.afterFrames === undefined && cut.afterBytes === undefined) throw new TypeError("cutNext: say afterFrames or afterBytes");
    this.cuts.push({ operation, cut });
  }

  /** Cuts every stream that is open, or those of one session. Answers how many. */
  cut(sessionId?: string): number {
    const found = [...this.open].filter((one) => sessionId === undefined || one.sessionId === sessionId);
    for (const { stream } of found) stream.cut();
    return found.length;
  }

  /**
   * Ends what is open, in a way that no client mends by asking again: it would ask the next test's server. Answers the keys
   * of the writes that came, since some may still be on their way.
   */
  close(): ReadonlySet<string> {
    this.closing.abort();
    for (const { operation, stream } of this.open) stream.finish(lastWord(operation));
    const keys = this.requests.flatMap(({ headers }) => headers.get(keyHeader) ?? []);
    return new Set([...this.former, ...keys]);
  }

  async handle(url: URL, request: Request, answer: Answer): Promise<Response> {
    const { method, headers } = request;
    const bytes = method === "GET" || method === "HEAD" ? undefined : await request.arrayBuffer();
    const operation = operationOf(url, method, bytes === undefined ? "" : new TextDecoder().decode(bytes));
    const passed = new Request(url, { method, headers, signal: request.signal, ...(bytes === undefined ? {} : { body: bytes }) });
    if (!operation) return answer(passed, undefined);
    if (this.former.has(headers.get(keyHeader) ?? "")) return answer(passed, overWith());
    const noted: MockRequest = { operation: operation.name, input: operation.input, headers };
    this.requests.push(noted);
    const failure = this.takeFailure(operation.name);
    if (failure === "network") return Response.error();
    if (failure === "timeout") return this.silence(request.signal);
    const response = this.broken(operation, await answer(passed, failure && refusalOf(failure)));
    noted.status = response.status;
    return response;
  }

  private takeFailure(operation: OperationName): Failure | undefined {
    const next = this.failures.find((failure) => failure.operation === operation && failure.times > 0);
    if (!next) return undefined;
    next.times -= 1;
    return next.failure;
  }

  private async silence(signal: AbortSignal): Promise<Response> {
    await Promise.race([signal, this.closing.signal].map((one) => new Promise((resolve) => {
      if (one.aborted) resolve(undefined);
      else one.addEventListener("abort", resolve, { once: true });
    })));
    return Response.error();
  }

  private broken({ name, input }: Operation, response: Response): Response {
    const { body, status, headers } = response;
    if (!body || headers.get("content-type")?.startsWith("text/event-stream") !== true) return response;
    const place = this.cuts.findIndex(({ operation }) => operation === name);
    const [next] = place === -1 ? [] : this.cuts.splice(place, 1);
    const stream = cuttable(body, next?.cut ?? {}, () => this.open.delete(open));
    const open: Open = { operation: name, sessionId: input["sessionId"], stream };
    this.open.add(open);
    return new Response(stream.body, { status, headers });
  }
}

const keyHeader = "idempotency-key";
const over = "the test that asked for this is over";
const streamed: readonly StreamedOperation[] = ["run", "resume", "tail"];

/** What whoever still asks is told. */
export function overWith(): OrchaError {
  return new OrchaError("aborted", over);
}

/** Refuses what the types do, for tests that are written without them: it would break nothing, and the test pass for no reason. */
function check(call: string, what: string, given: string, known: readonly string[]): void {
  if (!known.includes(given)) throw new TypeError(`${call}: there is no ${what} ${JSON.stringify(given)}; there are ${known.join(", ")}`);
}

function lastWord(operation: OperationName): string {
  if (operation === "tail") return 'event: end\ndata: {"type":"end","reason":"deleted"}\n\n';
  return `event: error\ndata: ${JSON.stringify({ code: "aborted", message: over, retryable: false })}\n\n`;
}

function refusalOf(failure: Exclude<Failure, "network" | "timeout">): OrchaError {
  const { code, message = "the test wants this to fail", ...options } = typeof failure === "string" ? { code: failure } : failure;
  return new OrchaError(code, message, options);
}
