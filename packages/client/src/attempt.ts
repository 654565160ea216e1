import { abortedBy, OrchaError } from "./error.ts";

/**
 * Makes one attempt, and ends it at the time limit or when the caller's signal fires, whichever is first.
 * It ends even where a custom `fetch` or `token` ignores the signal.
 */
export function attempt<T>(
  send: (signal: AbortSignal) => Promise<T>,
  timeoutMs: number,
  signal: AbortSignal | undefined,
): Promise<T> {
  return new Promise<T>((resolve, reject) => {
    if (signal?.aborted) {
      reject(abortedBy(signal));
      return;
    }
    // A controller of our own, since AbortSignal.any and AbortSignal.timeout are missing in React Native.
    const controller = new AbortController();
    const timer =
      timeoutMs === Infinity
        ? undefined
        : setTimeout(() => fail(new OrchaError("timeout", `no answer within ${timeoutMs} ms`)), timeoutMs);
    signal?.addEventListener("abort", onAbort);
    void send(controller.signal).then(resolve, fail).finally(cleanUp);

    function onAbort(): void {
      if (signal) fail(abortedBy(signal));
    }

    function fail(error: unknown): void {
      cleanUp();
      // First the reason, then the abort: what the abort makes fetch throw comes too late to be taken for it.
      reject(error);
      controller.abort();
    }

    function cleanUp(): void {
      clearTimeout(timer);
      signal?.removeEventListener("abort", onAbort);
    }
  });
}
