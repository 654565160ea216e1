import { FormatError } from "./error.ts";

/** What a reader reads: bytes or text, in pieces of any size. */
export type Source = AsyncIterable<Uint8Array | string> | Iterable<Uint8Array | string>;

/** One line of a file. Only LF ends a line, so U+2028 and U+2029 inside a string are text. */
export interface Line {
  /** Counted from 1, blank lines included. */
  number: number;
  /** Without CR and LF; absent where the bytes are no UTF-8. */
  text: string | undefined;
  /** False for a last line that no LF ends. */
  isEnded: boolean;
}

/** The longest line that is read, in bytes: memory stays bounded whatever the file holds. */
export const maxLineBytes = 16_777_216;

const lf = 10;
const cr = 13;

/** Cuts a source into lines; a byte order mark in front is left out. Throws `FormatError` for an endless line. */
export async function* readLines(source: Source): AsyncGenerator<Line> {
  const decoder = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });
  let parts: Uint8Array[] = [];
  let size = 0;
  let number = 1;

  function hold(bytes: Uint8Array): void {
    size += bytes.length;
    if (size > maxLineBytes) throw new FormatError(number, `is longer than ${maxLineBytes / 1_048_576} MiB`);
    parts.push(bytes);
  }

  function take(isEnded: boolean): Line {
    const bytes = parts.length === 1 && parts[0] ? parts[0] : joined(parts, size);
    parts = [];
    size = 0;
    return { number: number++, text: decode(decoder, bytes, number === 2), isEnded };
  }

  for await (const bytes of asBytes(source)) {
    let start = 0;
    for (let end = bytes.indexOf(lf); end !== -1; end = bytes.indexOf(lf, start)) {
      hold(bytes.subarray(start, end));
      start = end + 1;
      yield take(true);
    }
    // Copied: a reader of files may use its buffer again.
    if (start < bytes.length) hold(bytes.slice(start));
  }
  if (size > 0) yield take(false);
}

function decode(decoder: TextDecoder, bytes: Uint8Array, isFirst: boolean): string | undefined {
  const isMarked = isFirst && bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf;
  const end = bytes.at(-1) === cr ? bytes.length - 1 : bytes.length;
  try {
    return decoder.decode(bytes.subarray(isMarked ? 3 : 0, end));
  } catch {
    return undefined;
  }
}

function joined(parts: readonly Uint8Array[], size: number): Uint8Array {
  const bytes = new Uint8Array(size);
  let offset = 0;
  for (const part of parts) {
    bytes.set(part, offset);
    offset += part.length;
  }
  return bytes;
}

/** Text may be cut between the halves of a surrogate pair, which only together are a character. */
async function* asBytes(source: Source): AsyncGenerator<Uint8Array> {
  const encoder = new TextEncoder();
  let half = "";
  for await (const piece of source) {
    if (typeof piece !== "string") {
      yield piece;
      continue;
    }
    const text = half + piece;
    half = /[\ud800-\udbff]$/.exec(text)?.[0] ?? "";
    yield encoder.encode(half === "" ? text : text.slice(0, -1));
  }
  if (half !== "") yield encoder.encode(half);
}
