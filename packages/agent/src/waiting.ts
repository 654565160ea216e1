/** What a wait ends with when its signal comes first, or its time is over. */
export const gaveUp: unique symbol = Symbol("gave up");

/** Waits for a promise or the signal, whichever comes first; a promise that fails later fails unheard. */
export function untilAborted<T>(promise: PromiseLike<T>, signal: AbortSignal): Promise<T | typeof gaveUp> {
  return new Promise((resolve, reject) => {
    const giveUp = (): void => resolve(gaveUp);
    const forget = (): void => signal.removeEventListener("abort", giveUp);
    if (signal.aborted) giveUp();
    else signal.addEventListener("abort", giveUp, { once: true });
    void promise.then(resolve, reject).then(forget);
  });
}

/** The longest time that timers take, in milliseconds: a longer one would be over at once. */
const longestTimer = 2 ** 31 - 1;

/** Waits for as many milliseconds, or until the signal. */
export async function pause(ms: number, signal: AbortSignal): Promise<void> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  await untilAborted(new Promise<void>((resolve) => (timer = setTimeout(resolve, Math.min(ms, longestTimer)))), signal);
  clearTimeout(timer);
}
