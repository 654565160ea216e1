/** What is timed; the index counts its samples. */
export type Work = (index: number) => Promise<unknown>;

/** The longest that the samples of one side may take in one round, in milliseconds, once there are a few. */
const budgetMs = 150;
const fewestSamples = 5;

/** Times a piece of work up to so many times, and answers the median in milliseconds. */
export async function p50(samples: number, work: Work): Promise<number> {
  const times: number[] = [];
  const deadline = performance.now() + budgetMs;
  for (let index = 0; index < samples; index += 1) {
    // A report must come to its end even where something became a thousand times slower.
    if (index >= fewestSamples && performance.now() > deadline) break;
    const start = performance.now();
    await work(index);
    times.push(performance.now() - start);
  }
  return median(times);
}

/** The middle one of some numbers. */
export function median(numbers: readonly number[]): number {
  const sorted = numbers.toSorted((left, right) => left - right);
  const upper = sorted[Math.floor(sorted.length / 2)] ?? Number.NaN;
  const lower = sorted[Math.floor((sorted.length - 1) / 2)] ?? Number.NaN;
  return (lower + upper) / 2;
}

/** The median of what was measured in one round divided by what else was: a neighbour's load slows down both. */
export function ratioOf(dividends: readonly number[], divisors: readonly number[]): number {
  return median(dividends.map((dividend, round) => dividend / (divisors[round] ?? Number.NaN)));
}

/** How much more the median of one thing is than that of another. */
export function differenceOf(minuends: readonly number[], subtrahends: readonly number[]): number {
  return median(minuends) - median(subtrahends);
}
