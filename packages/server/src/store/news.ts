import type { SessionRef } from "./store.ts";

/** Told of each session that changed; without one, any may have. */
export type OnNews = (ref?: SessionRef) => void;

/** Tells listeners of this process that sessions have changed. What they hear is a hint: the log has the truth. */
export class News {
  private readonly listeners = new Set<OnNews>();
  private readonly onFirst: () => void;
  private readonly onLast: () => void;

  /** `onFirst` and `onLast` start and end what is only needed while somebody listens. */
  constructor(onFirst: () => void = noop, onLast: () => void = noop) {
    this.onFirst = onFirst;
    this.onLast = onLast;
  }

  tell(ref?: SessionRef): void {
    for (const listener of this.listeners) listener(ref);
  }

  /** Adds a listener; answers how to leave. */
  listen(onNews: OnNews): () => void {
    // A function of its own, so that one that listens twice is told twice.
    const listener: OnNews = (ref) => onNews(ref);
    this.listeners.add(listener);
    if (this.listeners.size === 1) this.onFirst();
    return () => {
      if (this.listeners.delete(listener) && this.listeners.size === 0) this.onLast();
    };
  }
}

function noop(): void {}
