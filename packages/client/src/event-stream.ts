import { OrchaError } from "./error.ts";
import { createEventParser } from "./event-parser.ts";

/** One event of a stream; its data is JSON that has been read. */
export interface StreamEvent {
  name: string;
  data: unknown;
}

/** How long a stream may be silent, in milliseconds: the server says that it is alive more often. */
const silenceMs = 30_000;

/**
 * Reads a stream of events. It ends where the body ends, however that comes: only the server's own word tells a whole
 * stream from one that was cut. Throws `network` where the connection breaks, falls silent, or is given up by the signal.
 */
export async function* readEvents(response: Response, signal: AbortSignal): AsyncGenerator<StreamEvent, void> {
  const events: StreamEvent[] = [];
  const parse = createEventParser(({ name, data }) => events.push({ name, data: JSON.parse(data) as unknown }));
  const decoder = new TextDecoder();
  const reader = response.body?.getReader();
  if (!reader) throw new OrchaError("unexpected", "this environment can't read a response as a stream");
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

/** Ends the wait even where what is waited for listens to no signal. */
function inTime<T>(reading: Promise<T>, signal: AbortSignal): Promise<T> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => fail(new Error(`the stream was silent for ${silenceMs} ms`)), silenceMs);
    const fail = (cause: unknown): void => {
      cleanUp();
      reject(new OrchaError("network", "the connection broke while the stream was read", { cause }));
    };
    const abort = (): void => fail(signal.reason);
    signal.addEventListener("abort", abort);
    if (signal.aborted) abort();
    reading.then((value) => {
      cleanUp();
      resolve(value);
      return value;
    }, fail);

    function cleanUp(): void {
      clearTimeout(timer);
      signal.removeEventListener("abort", abort);
    }
  });
}
