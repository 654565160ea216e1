import type { Store } from "@orcha/server";

/** A store whose process can be killed: from then on none of its calls reaches the store, or ends. */
export function plugged(store: Store): { store: Store; kill: () => void; isDead: () => boolean } {
  let isDead = false;
  const never = new Promise<never>(() => {});
  const plug = new Proxy(store, {
    get(target, key, receiver) {
      const member: unknown = Reflect.get(target, key, receiver);
      // The store outlives its processes.
      if (typeof member !== "function" || key === "close") return member;
      return async (...args: unknown[]): Promise<unknown> => {
        if (isDead) return never;
        const answer: unknown = await (member as (...given: unknown[]) => Promise<unknown>).apply(target, args);
        // What was written stands, but its process is no longer there to hear of it.
        return isDead ? never : answer;
      };
    },
  });
  return {
    store: plug,
    isDead: () => isDead,
    kill: () => {
      isDead = true;
    },
  };
}
