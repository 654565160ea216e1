import type { OperationName } from "@orcha/contract";
import type { Call } from "./call.ts";
import { eventStream, type WireEvent } from "./event-stream.ts";
import { readInput } from "./input.ts";
import type { RunNews } from "./runs/live-run.ts";
import type { Runs } from "./runs/runs.ts";
import type { NumberedFrame, Tailing } from "./tail/tailing.ts";

/** The operations that can be listened to. */
export type StreamedName = "run" | "resume" | "tail";

/** Tells whether an operation's answer may be a stream. */
export function isStreamed(operation: OperationName): operation is StreamedName {
  return operation === "run" || operation === "resume" || operation === "tail";
}

/*
 * What a run's stream says:
 *
 *   started { sessionId, run } ──▶ frame* ──▶ result ──▶ evaluations ──▶ end
 *                                     └──▶ error
 *
 * and a tail's: item, snapshot, text, ready … until `reconnect` or `end`. Either one that stops without its last word was
 * cut: the same request listens again.
 */

/** Answers runs and tails as they happen. What is wrong with a request is answered before the stream opens. */
export class Streaming {
  private readonly runs: Runs;
  private readonly tailing: Tailing;

  constructor(runs: Runs, tailing: Tailing) {
    this.runs = runs;
    this.tailing = tailing;
  }

  async answer(operation: StreamedName, call: Call, given: unknown, request: Request): Promise<Response> {
    const controller = new AbortController();
    const { signal } = controller;
    if (operation === "tail") {
      const input = await readInput("tail", withLastId(given, request));
      return eventStream(framesOf(await this.tailing.open(call, input, signal)), controller);
    }
    const started =
      operation === "run"
        ? await this.runs.begin(call, await readInput("run", given))
        : await this.runs.goOn(call, await readInput("resume", given));
    if (!("ref" in started)) return eventStream(only({ name: "result", data: started }), controller);
    const { ref, run } = started;
    const first = { name: "started", data: { sessionId: ref.sessionId, run } };
    return eventStream(newsOf(first, this.runs.news(started, signal)), controller);
  }
}

const end: WireEvent = { name: "end", data: {} };

async function* only(event: WireEvent): AsyncGenerator<WireEvent, void> {
  yield event;
  yield end;
}

async function* newsOf(first: WireEvent, news: AsyncGenerator<RunNews, void>): AsyncGenerator<WireEvent, void> {
  yield first;
  for await (const told of news) {
    if (told.type === "frame") yield { name: "frame", data: told.frame };
    else if (told.type === "result") yield { name: "result", data: told.result };
    else {
      yield { name: "evaluations", data: told.evaluations };
      break;
    }
  }
  yield end;
}

async function* framesOf(frames: AsyncGenerator<NumberedFrame, void>): AsyncGenerator<WireEvent, void> {
  for await (const { frame, id } of frames) yield { name: frame.type, data: frame, ...(id === undefined ? {} : { id }) };
}

/** A reader that was cut says where it was: newer than what it asked for at first. */
function withLastId(given: unknown, { headers }: Request): unknown {
  const last = headers.get("last-event-id") ?? "";
  return /^\d{1,15}$/.test(last) ? { ...(given as object), after: Number(last) } : given;
}
