import { randomBytes } from "node:crypto";
import { createWriteStream } from "node:fs";
import { realpath, rename, rm, stat } from "node:fs/promises";
import { dirname } from "node:path";
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { CommandFailure } from "./failure.ts";

/**
 * Writes a file under another name until it is whole, so that no half of one is ever taken for it. A link stays one, and
 * what is no file, such as a pipe or a device, is written to as it is.
 */
export async function writeWhole(path: string, texts: Iterable<string> | AsyncIterable<string>, signal?: AbortSignal): Promise<void> {
  let partial: string | undefined;
  try {
    const file = await fileBehind(path);
    // A name of its own: two that write one file at once would write into each other.
    partial = file && `${file}.${randomBytes(4).toString("hex")}.partial`;
    await pipeline(Readable.from(texts), createWriteStream(partial ?? path), signal ? { signal } : {});
    if (file !== undefined && partial !== undefined) await rename(partial, file);
  } catch (error) {
    // What went wrong first is what matters.
    if (partial !== undefined) await rm(partial, { force: true }).catch(() => {});
    throw inWords(path, error);
  }
}

/** The file that a path leads to, or will; nothing where something else is there, which a rename would replace. */
async function fileBehind(path: string): Promise<string | undefined> {
  const found = await stat(path).catch(() => undefined);
  if (!found) return path;
  return found.isFile() ? realpath(path) : undefined;
}

/** What the system says of a file would name the one that is not whole yet; all else is of the texts. */
function inWords(path: string, error: unknown): unknown {
  if (!(error instanceof Error && "syscall" in error && "code" in error)) return error;
  return new CommandFailure(error.code === "ENOENT" ? `there is no folder ${dirname(path)}` : `${path} can't be written (${String(error.code)})`);
}
