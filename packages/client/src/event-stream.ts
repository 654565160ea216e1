import { OrchaError, type OrchaErrorCode } from "./error.ts";
import { createEventParser } from "./event-parser.ts";
import { isPlainObject } from "./json.ts";

/** One event of a stream; its data is JSON that has been read. */
export interface StreamEvent {
  name: string;
  data: unknown;
  /** Where a reader that was cut goes on. */
  id?: string;
}

/** How long a stream may be silent, in milliseconds: the server says that it is alive more often. */
const silenceMs = 30_000;

/**
 * Reads a stream of events. It ends where the body ends, however that comes: only the server's own word tells a whole
 * stream from one that was cut. Throws `network` where the connection breaks, falls silent, or is given up by the signal.
 */
export async function* readEvents(response: Response, signal: AbortSignal): AsyncGenerator<StreamEvent, void> {
  const events: StreamEvent[] = [];
  const parse = createEventParser(({ data, ...event }) => events.push({ ...event, data: JSON.parse(data) as unknown }));
  const decoder = new TextDecoder();
  const reader = response.body?.getReader();
  if (!reader) throw new OrchaError("unexpected", "streams can't be read here");
  try {
    for (;;) {
      const { done, value } = await inTime(reader.read(), signal);
      if (done) return;
      parse(decoder.decode(value, { stream: true }));
      yield* events.splice(0);
    }
  } finally {
    reader.cancel().catch(() => {});
  }
}

/** The error that a stream told of in place of its last word. */
export function fromServer(data: unknown): OrchaError {
  if (!isPlainObject(data) || !isCode(data["code"])) return new OrchaError("unexpected", "its error can't be read");
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

/** Ends the wait even where what is waited for listens to no signal. */
function inTime<T>(reading: Promise<T>, signal: AbortSignal): Promise<T> {
  return new Promise((resolve, reject) => {
    const fail = (cause: unknown): void => reject(new OrchaError("network", "the stream was cut", { cause }));
    const abort = (): void => fail(signal.reason);
    const timer = setTimeout(fail, silenceMs, "timeout");
    signal.addEventListener("abort", abort);
    if (signal.aborted) abort();
    // A reader that is given up is cancelled, which ends what it still waits for.
    void reading.then(resolve, fail).finally(() => {
      clearTimeout(timer);
      signal.removeEventListener("abort", abort);
    });
  });
}
