import { detectionBytes, type Source } from "@orcha/formats";

/** Counts what goes by, so that a piece can be cut by its size. `passed` is called, and waited for, at each piece. */
export class Counted implements AsyncIterable<Uint8Array | string> {
  bytes = 0;
  private readonly source: Source;
  private readonly passed: () => Promise<void>;

  constructor(source: Source, passed: () => Promise<void>) {
    this.source = source;
    this.passed = passed;
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<Uint8Array | string> {
    for await (const piece of this.source) {
      this.bytes += piece.length;
      await this.passed();
      yield piece;
    }
  }
}

/** Reads the beginning of a source, and gives back all of it. */
export async function peek(source: Source): Promise<{ first: string; all: Source }> {
  const iterator = Symbol.asyncIterator in source ? source[Symbol.asyncIterator]() : source[Symbol.iterator]();
  const decoder = new TextDecoder();
  const pieces: (Uint8Array | string)[] = [];
  let first = "";
  while (first.length < detectionBytes) {
    const next = await iterator.next();
    if (next.done === true) break;
    pieces.push(next.value);
    first += typeof next.value === "string" ? next.value : decoder.decode(next.value, { stream: true });
  }
  async function* all(): AsyncGenerator<Uint8Array | string> {
    try {
      yield* pieces;
      // An iterator that has ended says so again.
      for (let next = await iterator.next(); next.done !== true; next = await iterator.next()) yield next.value;
    } finally {
      await iterator.return?.();
    }
  }
  return { first, all: all() };
}
