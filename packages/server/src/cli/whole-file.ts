import { createWriteStream } from "node:fs";
import { rename, rm } from "node:fs/promises";
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";

/** Writes a file under another name until it is whole, so that no half of one is ever taken for it. */
export async function writeWhole(path: string, texts: Iterable<string> | AsyncIterable<string>, signal?: AbortSignal): Promise<void> {
  const partial = `${path}.partial`;
  try {
    await pipeline(Readable.from(texts), createWriteStream(partial), signal ? { signal } : {});
    await rename(partial, path);
  } catch (error) {
    // What went wrong first is what matters.
    await rm(partial, { force: true }).catch(() => {});
    throw error;
  }
}
