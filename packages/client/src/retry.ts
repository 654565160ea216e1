import { abortedBy, toOrchaError, type OrchaError } from "./error.ts";
import type { RetryOptions } from "./options.ts";

/** Repeats an attempt while its failure may pass, waiting longer each time. An abort ends a wait at once. */
export async function retry<T>(
  attempt: () => Promise<T>,
  policy: Required<RetryOptions>,
  signal: AbortSignal | undefined,
): Promise<T> {
  for (let made = 1; ; made += 1) {
    try {
      return await attempt();
    } catch (cause) {
      const error = toOrchaError(cause);
      if (!error.retryable || made >= policy.attempts) throw error;
      await wait(delayAfter(error, made, policy), signal);
    }
  }
}

/** How long to wait after the given number of attempts: a random time, or what the server asked for if that is longer. */
export function delayAfter(error: OrchaError, made: number, { minDelayMs, maxDelayMs }: Required<RetryOptions>): number {
  // All of the time is random, so that clients which failed together don't come back together.
  const ceiling = Math.min(maxDelayMs, minDelayMs * 2 ** made);
  const backoff = minDelayMs + Math.random() * (ceiling - minDelayMs);
  const asked = error.details?.["retryAfterMs"];
  return typeof asked === "number" ? Math.max(backoff, Math.min(asked, maxDelayMs * 6)) : backoff;
}

/** Waits so many milliseconds; rejects with `aborted` as soon as the signal fires. */
export function wait(delayMs: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(finish, delayMs);
    signal?.addEventListener("abort", finish);
    if (signal?.aborted) finish();

    function finish(): void {
      clearTimeout(timer);
      signal?.removeEventListener("abort", finish);
      if (signal?.aborted) reject(abortedBy(signal));
      else resolve();
    }
  });
}
