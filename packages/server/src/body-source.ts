import { OrchaError } from "@orcha/contract";

/** How long a caller may send nothing, in milliseconds: as long as an import may be silent before others clear it away. */
export const patienceMs = 60_000;

type BodyReader = ReadableStreamDefaultReader<Uint8Array>;

/** How much of a refused body is read for nothing, in bytes. */
const maxReadAway = 67_108_864;

/**
 * Hands on a body of any length piece by piece, which comes no faster than the pieces are taken. They throw
 * `payload_too_large` behind the limit, and `aborted` where the caller goes away or falls silent.
 */
export async function withBody<T>(request: Request, limit: number, use: (body: AsyncIterable<Uint8Array>) => Promise<T>): Promise<T> {
  if (Number.parseInt(request.headers.get("content-length") ?? "0", 10) > limit) throw tooLarge(limit);
  const reader = (request.body ?? new Blob([]).stream()).getReader();
  try {
    return await use(piecesOf(reader, limit));
  } finally {
    void readAway(reader);
  }
}

async function* piecesOf(reader: BodyReader, limit: number): AsyncGenerator<Uint8Array> {
  let bytes = 0;
  for (let next = await inTime(reader.read()); !next.done; next = await inTime(reader.read())) {
    bytes += next.value.length;
    if (bytes > limit) throw tooLarge(limit);
    yield next.value;
  }
}

/**
 * Takes the rest of a body that is refused, without making anybody wait. Its caller sends it all the same, and the next
 * request of that connection comes behind it: one that is left halfway would go unanswered.
 */
export async function readAway(reader: BodyReader): Promise<void> {
  let bytes = 0;
  try {
    for (let next = await reader.read(); !next.done; next = await reader.read()) {
      bytes += next.value.length;
      if (bytes > maxReadAway) return await reader.cancel();
    }
  } catch {
    // Whoever sent it is gone.
  }
}

/** Says that whoever sent a file is no longer there to be answered. */
export function callerGone(cause: unknown): OrchaError {
  return new OrchaError("aborted", "the caller went away before the end of the file: nothing was imported", { cause });
}

async function inTime<T>(read: Promise<T>): Promise<T> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const late = new Promise<never>((_, reject) => {
    const fail = (): void => reject(new OrchaError("aborted", `nothing more of the file came for ${patienceMs / 1000} s: nothing was imported`));
    timer = setTimeout(fail, patienceMs);
  });
  try {
    return await Promise.race([read, late]);
  } catch (error) {
    throw error instanceof OrchaError ? error : callerGone(error);
  } finally {
    clearTimeout(timer);
  }
}

function tooLarge(limit: number): OrchaError {
  return new OrchaError("payload_too_large", `a file that is imported may have ${limit} bytes`, { details: { limit } });
}
