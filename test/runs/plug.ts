import type { Store } from "@orcha/server";

/** Where a process dies: at its so-many-th write of events, before the store has it or after. */
export interface Death {
  write: number;
  when: "before" | "after";
}

/** A store whose process can be killed: from then on none of its calls reaches the store, or ends. */
export interface Plug {
  store: Store;
  kill: () => void;
  isDead: () => boolean;
  /** How many writes of events there were. */
  writes: () => number;
}

/** Puts a plug between a store and one of its processes. */
export function plugged(store: Store, death?: Death): Plug {
  let isDead = false;
  let writes = 0;
  const never = new Promise<never>(() => {});
  const plug = new Proxy(store, {
    get(target, key, receiver) {
      const member: unknown = Reflect.get(target, key, receiver);
      // The store outlives its processes.
      if (typeof member !== "function" || key === "close") return member;
      return async (...args: unknown[]): Promise<unknown> => {
        const isDeadly = (key === "create" || key === "append") && !isDead && (writes += 1) === death?.write;
        if (isDeadly && death?.when === "before") isDead = true;
        if (isDead) return never;
        const answer: unknown = await (member as (...given: unknown[]) => Promise<unknown>).apply(target, args);
        if (isDeadly) isDead = true;
        // What was written stands, but its process is no longer there to hear of it.
        return isDead ? never : answer;
      };
    },
  });
  return {
    store: plug,
    kill: () => {
      isDead = true;
    },
    isDead: () => isDead,
    writes: () => writes,
  };
}
