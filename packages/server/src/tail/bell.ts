import { sessionName } from "../store/session-name.ts";
import type { SessionRef, Store } from "../store/store.ts";

/** Rings for those who wait for one session, where the store tells of it. */
export class Bell {
  private readonly store: Store;
  private readonly waiting = new Map<string, { wakers: Set<() => void>; stamp: number }>();
  private leave: (() => void) | undefined;
  private stamps = 0;

  constructor(store: Store) {
    this.store = store;
  }

  /** Calls `wake` whenever the session may have changed, until the answer is called. */
  listen(ref: SessionRef, wake: () => void): () => void {
    const name = sessionName(ref);
    const heard = this.waiting.get(name) ?? { wakers: new Set(), stamp: (this.stamps += 1) };
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

  /**
   * Stands for the time since it last rang for a session, or since somebody waits there: never the same again. Nothing
   * where nobody waits.
   */
  stamp(ref: SessionRef): number | undefined {
    return this.waiting.get(sessionName(ref))?.stamp;
  }

  private ring(ref: SessionRef | undefined): void {
    const one = ref && this.waiting.get(sessionName(ref));
    for (const heard of ref ? (one ? [one] : []) : this.waiting.values()) {
      heard.stamp = this.stamps += 1;
      for (const wake of heard.wakers) wake();
    }
  }
}
