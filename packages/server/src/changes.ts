import { HistoryError, OrchaError } from "@orcha/contract";
import { sessionNotFound, type Call } from "./call.ts";
import type { Current, Decision, SessionRef, Store } from "./store/store.ts";

/** How many writes of one session may wait for each other. */
const maxQueue = 256;

/** Lets one write at a time change a session, under the rules that hold for every write. */
export class Changes {
  private readonly store: Store;
  private readonly queued = new Map<string, number>();

  constructor(store: Store) {
    this.store = store;
  }

  /**
   * Changes a session. Throws `session_not_found`, `session_completed` (unless `evenCompleted`), `sequence_conflict`
   * where the caller expected another sequence, `too_busy` where too many writes wait, and what `decide` throws.
   */
  async change<T>(
    ref: SessionRef,
    call: Call,
    lookups: readonly string[],
    decide: (current: Current) => Decision<T>,
    evenCompleted = false,
  ): Promise<T> {
    const changed = await this.inQueue(ref, () =>
      this.store.append(ref, lookups, (current) => {
        checkSequence(call, current);
        if (!evenCompleted && current.view.snapshot.status === "completed") {
          throw new OrchaError("session_completed", `session ${JSON.stringify(ref.sessionId)} is completed`);
        }
        return decide(current);
      }),
    );
    if (!changed) throw sessionNotFound(ref.sessionId);
    return changed.result;
  }

  private async inQueue<T>(ref: SessionRef, run: () => Promise<T>): Promise<T> {
    const name = JSON.stringify([ref.tenant, ref.agent, ref.sessionId]);
    const waiting = this.queued.get(name) ?? 0;
    if (waiting >= maxQueue) throw new OrchaError("too_busy", `${maxQueue} writes of this session wait already`);
    this.queued.set(name, waiting + 1);
    try {
      return await run();
    } catch (error) {
      throw error instanceof HistoryError ? historyInvalid(error) : error;
    } finally {
      const left = (this.queued.get(name) ?? 1) - 1;
      if (left === 0) this.queued.delete(name);
      else this.queued.set(name, left);
    }
  }
}

function checkSequence({ ifSequence, principal }: Call, { view }: Current): void {
  const { sequence } = view.snapshot;
  if (ifSequence === undefined || ifSequence === sequence) return;
  throw new OrchaError("sequence_conflict", `the session is at sequence ${sequence}, not ${ifSequence}`, {
    details: { sequence, ...(principal.scopes.includes("read") ? { snapshot: view.snapshot } : {}) },
  });
}

/** Says a history's fault as an error of the table; the message is the seed's phrase. */
export function historyInvalid(error: HistoryError): OrchaError {
  const { finding } = error;
  return new OrchaError("history_invalid", error.message, {
    details: { path: `messages${finding.path}`, index: error.index, findings: [finding] },
    cause: error,
  });
}

/** Looks and writes again while other writes come between the two. Throws `session_busy` after 100 tries. */
export async function untilDone<T>(attempt: () => Promise<T | undefined>): Promise<T> {
  for (let tries = 0; tries < 100; tries += 1) {
    const done = await attempt();
    if (done !== undefined) return done;
  }
  throw new OrchaError("session_busy", "other writes of this session keep coming between");
}
