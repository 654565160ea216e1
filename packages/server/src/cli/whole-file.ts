import { createWriteStream } from "node:fs";
import { rename, rm } from "node:fs/promises";
import { dirname } from "node:path";
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { CommandFailure } from "./failure.ts";

/** Writes a file under another name until it is whole, so that no half of one is ever taken for it. */
export async function writeWhole(path: string, texts: Iterable<string> | AsyncIterable<string>, signal?: AbortSignal): Promise<void> {
  const partial = `${path}.partial`;
  try {
    await pipeline(Readable.from(texts), createWriteStream(partial), signal ? { signal } : {});
    await rename(partial, path);
  } catch (error) {
    // What went wrong first is what matters.
    await rm(partial, { force: true }).catch(() => {});
    throw inWords(path, error);
  }
}

/** What the system says of a file would name the one that is not whole yet; all else is of the texts. */
function inWords(path: string, error: unknown): unknown {
  if (!(error instanceof Error && "syscall" in error && "code" in error)) return error;
  return new CommandFailure(error.code === "ENOENT" ? `there is no folder ${dirname(path)}` : `${path} can't be written (${String(error.code)})`);
}
