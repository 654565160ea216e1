/** Values of which a reader gets the newest: a slow one misses some in between, never the last. */
export class LatestStream<T> {
  newest: T | undefined;
  private version = 0;
  private ended: { error?: Error } | undefined;
  private wake: () => void = () => {};
  private stream: ReadableStream<T> | undefined;

  push(value: T): void {
    this.newest = value;
    this.version += 1;
    this.wake();
  }

  end(value: T): void {
    this.ended = {};
    this.push(value);
  }

  fail(error: Error): void {
    this.ended = { error };
    this.wake();
  }

  /** The same stream each time, made when it is first asked for: not every environment has streams. */
  readable(): ReadableStream<T> {
    return (this.stream ??= this.open());
  }

  private open(): ReadableStream<T> {
    let seen = 0;
    return new ReadableStream<T>(
      {
        pull: async (sink) => {
          while (seen === this.version && !this.ended) await new Promise<void>((resolve) => (this.wake = resolve));
          if (seen < this.version) {
            seen = this.version;
            // Counted up only with a value.
            sink.enqueue(this.newest as T);
          }
          if (this.ended?.error) sink.error(this.ended.error);
          else if (this.ended) sink.close();
        },
      },
      // Nothing is read ahead, so that what is read is the newest.
      { highWaterMark: 0 },
    );
  }
}
