/** Values of which a reader gets the newest: a slow one misses some in between, never the last. */
export interface LatestStream<T> {
  newest: () => T | undefined;
  push: (value: T) => void;
  end: (value: T) => void;
  fail: (error: Error) => void;
  /** The same stream each time, made when it is first asked for: not every environment has streams. */
  readable: () => ReadableStream<T>;
}

/** Opens a stream that nobody reads yet. */
export function createLatestStream<T>(): LatestStream<T> {
  let newest: T | undefined;
  let version = 0;
  let ended: { error?: Error } | undefined;
  let wake = (): void => {};
  let stream: ReadableStream<T> | undefined;

  function push(value: T): void {
    newest = value;
    version += 1;
    wake();
  }

  function open(): ReadableStream<T> {
    let seen = 0;
    return new ReadableStream<T>(
      {
        async pull(sink) {
          if (seen === version && !ended) await new Promise<void>((resolve) => (wake = resolve));
          if (seen < version) {
            seen = version;
            // Counted up only with a value.
            sink.enqueue(newest as T);
          }
          if (ended?.error) sink.error(ended.error);
          else if (ended) sink.close();
        },
      },
      // Nothing is read ahead, so that what is read is the newest.
      { highWaterMark: 0 },
    );
  }

  return {
    newest: () => newest,
    push,
    end(value) {
      ended = {};
      push(value);
    },
    fail(error) {
      ended = { error };
      wake();
    },
    readable: () => (stream ??= open()),
  };
}
