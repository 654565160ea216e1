import type { OperationName } from "@orcha/contract";
import type { Call } from "./call.ts";
import { eventStream, streamHeaders, written, type WireEvent } from "./event-stream.ts";
import { readInput } from "./input.ts";
import type { RunNews } from "./runs/live-run.ts";
import type { Runs } from "./runs/runs.ts";
import type { Tailing, Told } from "./tail/tailing.ts";

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
      const frames = await this.tailing.open(call, input, signal);
      // A body that nobody reads would never be left either.
      if (request.method === "HEAD") return new Response(null, { headers: streamHeaders });
      return eventStream(framesOf(frames), controller);
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

const end = written({ name: "end", data: {} });

async function* only(event: WireEvent): AsyncGenerator<string, void> {
  yield written(event) + end;
}

async function* newsOf(first: WireEvent, news: AsyncGenerator<RunNews, void>): AsyncGenerator<string, void> {
  yield written(first);
  // News that end before their last word were cut: the reader shall ask again, which may be another server.
  for await (const told of news) {
    if (told.type === "frame") yield written({ name: "frame", data: told.frame });
    else if (told.type === "result") yield written({ name: "result", data: told.result });
    else {
      yield written({ name: "evaluations", data: told.evaluations }) + end;
      return;
    }
  }
}

async function* framesOf(tail: AsyncGenerator<Told, void>): AsyncGenerator<string, void> {
  for await (const { frames, memo } of tail) {
    const text = memo?.text ?? frames.map(({ frame, id }) => written({ name: frame.type, data: frame, ...(id === undefined ? {} : { id }) })).join("");
    if (memo) memo.text = text;
    yield text;
  }
}

/** A reader that was cut says where it was: newer than what it asked for at first. */
function withLastId(given: unknown, { headers }: Request): unknown {
  const last = headers.get("last-event-id") ?? "";
  return /^\d{1,15}$/.test(last) ? { ...(given as object), after: Number(last) } : given;
}
