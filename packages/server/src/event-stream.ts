import { parseAccept } from "hono/utils/accept";
import { toOrchaError } from "./failure.ts";
import { within } from "./store/wait.ts";

/** One event of a stream (https://html.spec.whatwg.org/multipage/server-sent-events.html). */
export interface WireEvent {
  name: string;
  /** JSON. */
  data: unknown;
  /** Where a reader that was cut goes on. */
  id?: number;
}

/** How often a silent stream says that it is alive, in milliseconds. */
const heartbeatMs = 10_000;

/** What every stream is sent with. */
export const streamHeaders = { "content-type": "text/event-stream", "cache-control": "no-cache", "x-accel-buffering": "no" };

/** Tells whether a request would rather have a stream than a single answer: it names streams, and likes them no less. */
export function takesStream({ headers: asked }: Request): boolean {
  const accept = asked.get("accept") ?? "";
  // Most requests want no stream, and are told apart at once.
  if (!/event-stream/i.test(accept)) return false;
  const liked = new Map(parseAccept(accept).map(({ type, q }) => [type.toLowerCase(), q]));
  const stream = liked.get("text/event-stream") ?? 0;
  return stream > 0 && stream >= (liked.get("application/json") ?? liked.get("application/*") ?? liked.get("*/*") ?? 0);
}

/**
 * Answers written events as they come. They are asked for only when the reader has room, so that what waits is the newest state
 * and not a growing queue. Where the reader leaves, `controller` is aborted; a failure is told as an `error` event.
 */
export function eventStream(events: AsyncGenerator<string, void>, controller: AbortController): Response {
  const encoder = new TextEncoder();
  let next: Promise<IteratorResult<string, void>> | undefined;
  const body = new ReadableStream<Uint8Array>(
    {
      async pull(sink) {
        try {
          next ??= events.next();
          const step = await within(next, heartbeatMs);
          if (step === undefined) {
            sink.enqueue(encoder.encode(": alive\n\n"));
            return;
          }
          next = undefined;
          if (step.done) {
            sink.close();
            controller.abort();
          } else sink.enqueue(encoder.encode(step.value));
        } catch (error) {
          const { code, message, retryable, details } = toOrchaError(error);
          const data = { code, message, retryable, ...(details ? { details } : {}) };
          sink.enqueue(encoder.encode(written({ name: "error", data })));
          sink.close();
          controller.abort();
        }
      },
      cancel() {
        controller.abort();
        void next?.catch(() => {});
        // A reader without room left events that nobody will ask for: they end here, or never.
        events.return().catch(() => {});
      },
    },
    { highWaterMark: 1 },
  );
  return new Response(body, { headers: streamHeaders });
}

/** Writes an event. */
export function written({ name, data, id }: WireEvent): string {
  return `${id === undefined ? "" : `id: ${id}\n`}event: ${name}\ndata: ${JSON.stringify(data)}\n\n`;
}
