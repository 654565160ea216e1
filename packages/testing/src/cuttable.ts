/** Where a stream is cut. */
export interface Cut {
  /** After so many frames. */
  afterFrames?: number;
  /** After so many bytes, in the midst of a frame or not. */
  afterBytes?: number;
}

/** A stream that a test may cut. */
export interface Cuttable {
  body: ReadableStream<Uint8Array>;
  cut: () => void;
  /** Ends the stream in order, with a last word of the mock's. */
  finish: (word: string) => void;
}

/** Makes a stream of events one that can be cut, as a connection that breaks. `onEnd` is told of its end, however it comes. */
export function cuttable(source: ReadableStream<Uint8Array>, { afterFrames = Infinity, afterBytes = Infinity }: Cut, onEnd: () => void): Cuttable {
  const reader = source.getReader();
  let controller: ReadableStreamDefaultController<Uint8Array> | undefined;
  let frames = 0;
  let bytes = 0;
  let isOver = false;

  function end(): void {
    isOver = true;
    onEnd();
  }

  function cut(): void {
    if (isOver) return;
    end();
    controller?.error(new TypeError("the mock cut this stream"));
    reader.cancel().catch(() => {});
  }

  function finish(word: string): void {
    if (isOver) return;
    end();
    controller?.enqueue(new TextEncoder().encode(word));
    controller?.close();
    reader.cancel().catch(() => {});
  }

  const body = new ReadableStream<Uint8Array>(
    {
      start: (own) => {
        controller = own;
      },
      async pull(own) {
        // Cut when more is asked for, so that what came before is read.
        if (frames >= afterFrames || bytes >= afterBytes) return cut();
        const { done, value } = await reader.read();
        if (isOver) return;
        if (done) {
          end();
          own.close();
          return;
        }
        const ends = frameEnds(value);
        const piece = value.subarray(0, Math.min(afterBytes - bytes, ends[afterFrames - frames - 1] ?? value.length));
        frames += ends.filter((place) => place <= piece.length).length;
        bytes += piece.length;
        own.enqueue(piece);
      },
      async cancel() {
        if (!isOver) end();
        await reader.cancel();
      },
    },
    { highWaterMark: 0 },
  );
  return { body, cut, finish };
}

const lineEnd = 10;
const colon = 58;

/** Where each frame of a chunk ends. The server sends whole frames, and comments, which are none, where it has nothing to say. */
function frameEnds(chunk: Uint8Array): number[] {
  const ends: number[] = [];
  let start = 0;
  for (const [index, byte] of chunk.entries()) {
    if (byte !== lineEnd || chunk[index - 1] !== lineEnd) continue;
    if (chunk[start] !== colon) ends.push(index + 1);
    start = index + 1;
  }
  return ends;
}
