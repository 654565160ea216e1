import type { OperationName } from "@orcha/contract";
import type { Call } from "./call.ts";
import { toOrchaError } from "./failure.ts";
import { readInput } from "./input.ts";
import type { RunNews } from "./runs/live-run.ts";
import type { Runs } from "./runs/runs.ts";
import { within } from "./store/wait.ts";

/** The operations that can be listened to. */
export type StreamedName = "run" | "resume";

/** How often a silent stream says that it is alive, in milliseconds. */
const heartbeatMs = 10_000;

/** Tells whether an operation's answer may be a stream. */
export function isStreamed(operation: OperationName): operation is StreamedName {
  return operation === "run" || operation === "resume";
}

/** Tells whether a request would rather have a stream than wait for the result. */
export function takesStream({ headers }: Request): boolean {
  return /\btext\/event-stream\b/i.test(headers.get("accept") ?? "");
}

/*
 * What a stream says (https://html.spec.whatwg.org/multipage/server-sent-events.html):
 *
 *   started { sessionId, run } ──▶ frame* ──▶ result ──▶ evaluations ──▶ end
 *                                     └──▶ error ──▶ end
 *
 * A stream that stops without `end` was cut: the same request, with the same idempotency key, listens again.
 */

/** Answers runs as they happen. What is wrong with a request is answered before the stream opens. */
export class Streaming {
  private readonly runs: Runs;

  constructor(runs: Runs) {
    this.runs = runs;
  }

  async answer(operation: StreamedName, call: Call, given: unknown): Promise<Response> {
    const started =
      operation === "run"
        ? await this.runs.begin(call, await readInput("run", given))
        : await this.runs.goOn(call, await readInput("resume", given));
    if (!("ref" in started)) return stream([event("result", started), event("end", {})]);
    const controller = new AbortController();
    const { ref, run } = started;
    return stream([event("started", { sessionId: ref.sessionId, run })], this.runs.news(started, controller.signal), controller);
  }
}

function stream(first: readonly string[], news?: AsyncGenerator<RunNews, void>, controller?: AbortController): Response {
  const encoder = new TextEncoder();
  let next: Promise<IteratorResult<RunNews, void>> | undefined;
  const body = new ReadableStream<Uint8Array>({
    start(sink) {
      sink.enqueue(encoder.encode(first.join("")));
      if (!news) sink.close();
    },
    // Asked only when the reader has room: what comes meanwhile is the newest state, not a growing queue.
    async pull(sink) {
      if (!news) return;
      try {
        next ??= news.next();
        const step = await within(next, heartbeatMs);
        if (step === undefined) {
          sink.enqueue(encoder.encode(": alive\n\n"));
          return;
        }
        next = undefined;
        if (!step.done) sink.enqueue(encoder.encode(written(step.value)));
        if (step.done || step.value.type === "evaluations") {
          sink.enqueue(encoder.encode(event("end", {})));
          sink.close();
          controller?.abort();
        }
      } catch (error) {
        const { code, message, retryable, details } = toOrchaError(error);
        sink.enqueue(encoder.encode(event("error", { code, message, retryable, ...(details ? { details } : {}) }) + event("end", {})));
        sink.close();
        controller?.abort();
      }
    },
    cancel() {
      controller?.abort();
      void next?.catch(() => {});
    },
  });
  return new Response(body, {
    headers: { "content-type": "text/event-stream", "cache-control": "no-cache", "x-accel-buffering": "no" },
  });
}

function written(news: RunNews): string {
  switch (news.type) {
    case "frame":
      return event("frame", news.frame);
    case "result":
      return event("result", news.result);
    case "evaluations":
      return event("evaluations", news.evaluations);
  }
}

function event(name: string, data: unknown): string {
  return `event: ${name}\ndata: ${JSON.stringify(data)}\n\n`;
}
