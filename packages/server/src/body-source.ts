import { OrchaError } from "@orcha/contract";

/** How long a caller may send nothing, in milliseconds: as long as an import may be silent before others clear it away. */
export const patienceMs = 60_000;

/**
 * Reads a body of any length piece by piece, no faster than the pieces are taken. Throws `payload_too_large` behind the
 * limit, and `aborted` where the caller goes away or falls silent.
 */
export async function* bodySource(request: Request, limit: number): AsyncGenerator<Uint8Array> {
  if (Number.parseInt(request.headers.get("content-length") ?? "0", 10) > limit) throw tooLarge(limit);
  const reader = request.body?.getReader();
  if (!reader) return;
  let bytes = 0;
  try {
    for (let next = await inTime(reader.read()); !next.done; next = await inTime(reader.read())) {
      bytes += next.value.length;
      if (bytes > limit) throw tooLarge(limit);
      yield next.value;
    }
  } finally {
    await reader.cancel().catch(() => {});
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
