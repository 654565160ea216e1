import { OrchaError } from "@orcha/contract";
import type { Store } from "./store/store.ts";

/** How long a store may take to answer, in milliseconds. */
const limitMs = 2000;

/** Asks the store whether it answers; many that ask at once cost one question. */
export function createReadiness(store: Store): () => Promise<void> {
  let asking: Promise<void> | undefined;
  return () => {
    asking ??= ask(store).finally(() => {
      asking = undefined;
    });
    return asking;
  };
}

/**
 * A store brings its schema up to date when it opens, so one that can list is migrated too. No caller's tenant is blank:
 * the list is empty, and costs one look into the index. Throws `storage_error` or `too_busy`.
 */
async function ask(store: Store): Promise<void> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new OrchaError("too_busy", "the store doesn't answer in time")), limitMs);
  });
  try {
    await Promise.race([store.list({ tenant: "", agent: "", limit: 1 }), late]);
  } catch (error) {
    if (error instanceof OrchaError && error.status === 503) throw error;
    throw new OrchaError("storage_error", "the store fails", { cause: error });
  } finally {
    clearTimeout(timer);
  }
}
