import type { TailFrame, TailPiece } from "@orcha/contract";
import type { TailOptions } from "./agent-client.ts";
import type { Connection } from "./connection.ts";
import { invalidInput, OrchaError, toOrchaError } from "./error.ts";
import { fromServer, readEvents } from "./event-stream.ts";
import { delayAfter, wait } from "./retry.ts";
import { markUnknownItem } from "./unknown.ts";

/*
 *   open behind the last event ──▶ frames ──▶ end: over
 *       ▲                            │
 *       └── wait, longer each time ◀─┴── cut, silent, `reconnect`, or a failure that may pass
 */

/** Follows a session through any number of connections. Throws what no new connection would mend. */
export async function* followTail(
  { listen, retry }: Pick<Connection, "listen" | "retry">,
  input: { agent: string; sessionId: string },
  { after, signal, onDisconnect }: TailOptions,
): AsyncGenerator<TailFrame, void> {
  if (after !== undefined && !(Number.isSafeInteger(after) && after >= 0)) throw invalidInput("after", "must be an integer of 0 or more");
  /** The last event that was told of, once something was. */
  let last: number | undefined;
  for (let failures = 0; ; failures += 1) {
    if (signal?.aborted) return;
    const controller = new AbortController();
    const abort = (): void => controller.abort();
    signal?.addEventListener("abort", abort);
    try {
      const heard = await listen("tail", { ...input, after: last ?? after }, {}, controller.signal);
      // Where streams can't be read, the same comes piece by piece.
      for await (const { data, id } of heard.headers ? readEvents(heard, controller.signal) : piecesOf(heard as TailPiece)) {
        if (signal?.aborted) return;
        const frame = data as TailFrame;
        failures = 0;
        if (id !== undefined) last = Number(id);
        // From where it joined, also where nothing has happened yet.
        if (frame.type === "ready") last ??= frame.sequence;
        if (frame.type === "reconnect") break;
        if (!frame.type) throw fromServer(data);
        yield frame.type === "item" ? { ...frame, item: markUnknownItem(frame.item) } : frame;
        if (frame.type === "end") return;
      }
      // A server that says good-bye to all its readers shall not meet all of them at once again: the wait is random.
      if (heard.headers) throw new OrchaError("network", "the stream was cut");
    } catch (cause) {
      const error = toOrchaError(cause);
      if (signal?.aborted) return;
      // Where there was a server something else may speak while it restarts, for which it has some two minutes.
      if (!error.retryable && !(last && error.code === "unexpected" && failures < 50)) throw error;
      onDisconnect?.(error);
      await wait(delayAfter(error, failures + 1, retry), signal).catch(() => {});
    } finally {
      signal?.removeEventListener("abort", abort);
      controller.abort();
    }
  }
}

function piecesOf({ frames, after }: TailPiece): { data: TailFrame; id?: string }[] {
  return frames.map((data, index) => ({ data, id: frames[index + 1] ? undefined : String(after) }));
}
