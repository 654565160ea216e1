import type { SessionRef, Store } from "../store/store.ts";

/** Rings for those who wait for one session, where the store tells of it. */
export class Bell {
  private readonly store: Store;
  private readonly waiting = new Map<string, Set<() => void>>();
  private leave: (() => void) | undefined;

  constructor(store: Store) {
    this.store = store;
  }

  /** Calls `wake` whenever the session may have changed, until the answer is called. */
  listen(ref: SessionRef, wake: () => void): () => void {
    const name = nameOf(ref);
    const wakers = this.waiting.get(name) ?? new Set();
    wakers.add(wake);
    this.waiting.set(name, wakers);
    this.leave ??= this.store.listen((changed) => this.ring(changed));
    return () => {
      wakers.delete(wake);
      if (wakers.size === 0 && this.waiting.get(name) === wakers) this.waiting.delete(name);
      if (this.waiting.size > 0) return;
      this.leave?.();
      this.leave = undefined;
    };
  }

  private ring(ref: SessionRef | undefined): void {
    const rung = ref ? [this.waiting.get(nameOf(ref)) ?? []] : [...this.waiting.values()];
    for (const wakers of rung) for (const wake of wakers) wake();
  }
}

function nameOf({ tenant, agent, sessionId }: SessionRef): string {
  return JSON.stringify([tenant, agent, sessionId]);
}
