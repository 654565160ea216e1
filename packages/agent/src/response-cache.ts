/** How long answers are kept, and how many. */
export interface CacheOptions {
  /** Milliseconds; default one hour. */
  ttlMs?: number;
  /** The most answers that are kept, the oldest going first; default 100. */
  max?: number;
}

/**
 * Answers to prompts, for the conversation as it stands. Whatever changes the conversation clears it, so that an answer
 * is only ever given again where everything before the prompt is the same.
 */
export class ResponseCache<T> {
  private readonly entries = new Map<string, { value: T; until: number }>();
  private readonly ttlMs: number;
  private readonly max: number;

  constructor({ ttlMs = 3_600_000, max = 100 }: CacheOptions) {
    this.ttlMs = ttlMs;
    this.max = max;
  }

  get(prompt: string): T | undefined {
    const entry = this.entries.get(prompt);
    if (entry && entry.until > Date.now()) return entry.value;
    this.entries.delete(prompt);
    return undefined;
  }

  set(prompt: string, value: T): void {
    this.entries.delete(prompt);
    this.entries.set(prompt, { value, until: Date.now() + this.ttlMs });
    const [oldest] = this.entries.keys();
    if (this.entries.size > this.max && oldest !== undefined) this.entries.delete(oldest);
  }

  clear(): void {
    this.entries.clear();
  }
}
