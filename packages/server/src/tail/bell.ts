import type { SessionRef, Store } from "../store/store.ts";

/** Rings for those who wait for one session, where the store tells of it. */
export class Bell {
  private readonly store: Store;
  private readonly waiting = new Map<string, { wakers: Set<() => void>; rings: number }>();
  private leave: (() => void) | undefined;

  constructor(store: Store) {
    this.store = store;
  }

  /** Calls `wake` whenever the session may have changed, until the answer is called. */
  listen(ref: SessionRef, wake: () => void): () => void {
    const name = nameOf(ref);
    const heard = this.waiting.get(name) ?? { wakers: new Set(), rings: 0 };
    const { wakers } = heard;
    wakers.add(wake);
    this.waiting.set(name, heard);
    this.leave ??= this.store.listen((changed) => this.ring(changed));
    return () => {
      wakers.delete(wake);
      if (wakers.size === 0 && this.waiting.get(name) === heard) this.waiting.delete(name);
      if (this.waiting.size > 0) return;
      this.leave?.();
      this.leave = undefined;
    };
  }

  /** How often it rang for a session since somebody waits; nothing where nobody does. */
  rings(ref: SessionRef): number | undefined {
    return this.waiting.get(nameOf(ref))?.rings;
  }

  private ring(ref: SessionRef | undefined): void {
    const one = ref && this.waiting.get(nameOf(ref));
    for (const heard of ref ? (one ? [one] : []) : this.waiting.values()) {
      heard.rings += 1;
      for (const wake of heard.wakers) wake();
    }
  }
}

function nameOf({ tenant, agent, sessionId }: SessionRef): string {
  return JSON.stringify([tenant, agent, sessionId]);
}
