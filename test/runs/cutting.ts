/** What becomes of a response's body. */
export type Fate =
  /** The connection breaks. */
  | "break"
  /** The body ends in good order, as when a gateway has had enough. */
  | "end"
  /** Nothing more comes. */
  | "silence"
  /** Something else speaks from here on. */
  | "garbage";

/** A way to the server whose connections break. */
export interface Cutting {
  fetch: typeof globalThis.fetch;
  /** How many requests for a stream there were. */
  connections: number;
  /** Whether the first connection lasted to where it was to be cut. */
  isCut: boolean;
  /** What the first connection brought. */
  bytes: number;
}

/** Lets the first stream pass up to a byte, and all later ones whole. */
export function cuttingAt(position: number, fate: Fate, fetch: typeof globalThis.fetch): Cutting {
  const cutting: Cutting = { fetch: cut, connections: 0, isCut: false, bytes: 0 };

  async function cut(...request: Parameters<typeof globalThis.fetch>): Promise<Response> {
    const response = await fetch(...request);
    if (response.headers.get("content-type") !== "text/event-stream" || !response.body) return response;
    cutting.connections += 1;
    if (cutting.connections > 1) return response;
    return new Response(first(response.body.getReader()), { headers: response.headers });
  }

  function first(reader: ReadableStreamDefaultReader<Uint8Array>): ReadableStream<Uint8Array> {
    return new ReadableStream<Uint8Array>({
      async pull(sink) {
        if (cutting.isCut) return;
        const { done, value } = await reader.read();
        if (done) {
          sink.close();
          return;
        }
        const rest = position - cutting.bytes;
        cutting.bytes += value.byteLength;
        if (value.byteLength <= rest) {
          sink.enqueue(value);
          return;
        }
        cutting.isCut = true;
        sink.enqueue(value.subarray(0, rest));
        await reader.cancel();
        if (fate === "end") sink.close();
        // Not before what came is read: an error drops what is queued.
        if (fate === "break") setTimeout(() => sink.error(new TypeError("terminated")), 1);
        if (fate === "garbage") sink.enqueue(new TextEncoder().encode("\n\nevent: frame\ndata: <html>504 Gateway Time-out</html>\n\n"));
      },
      cancel: (reason) => reader.cancel(reason),
    });
  }

  return cutting;
}
