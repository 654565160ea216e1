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
 * stream from one that was cut. Throws `network` where the connection breaks or falls silent.
 */
export async function* readEvents(response: Response): AsyncGenerator<StreamEvent, void> {
  const events: StreamEvent[] = [];
  const parse = createEventParser(({ name, data }) => events.push({ name, data: JSON.parse(data) as unknown }));
  const decoder = new TextDecoder();
  const reader = response.body?.getReader();
  if (!reader) throw new OrchaError("unexpected", "this environment can't read a response as a stream");
  try {
    for (;;) {
      const { done, value } = await inTime(reader.read());
      if (done) return;
      parse(decoder.decode(value, { stream: true }));
      yield* events.splice(0);
    }
  } finally {
    reader.cancel().catch(() => {});
  }
}

async function inTime<T>(reading: Promise<T>): Promise<T> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const silence = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new OrchaError("network", `the stream was silent for ${silenceMs} ms`)), silenceMs);
  });
  try {
    return await Promise.race([reading, silence]);
  } catch (cause) {
    throw cause instanceof OrchaError ? cause : new OrchaError("network", "the connection broke while the stream was read", { cause });
  } finally {
    clearTimeout(timer);
  }
}
