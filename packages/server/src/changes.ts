import { HistoryError, OrchaError } from "@orcha/contract";
import { sessionNotFound, type Call } from "./call.ts";
import { checkCondition } from "./store/condition.ts";
import { sessionName } from "./store/session-name.ts";
import type { Current, Decision, SessionRef, Store, WriteCondition } from "./store/store.ts";
import type { Surroundings } from "./surroundings.ts";

/** How many writes of one session may wait for each other. */
const maxQueue = 256;

/** What a write may do that others may not. */
export interface Allowance {
  /** Also where the session is completed. */
  evenCompleted?: boolean;
  /** Also while a run holds the session. */
  evenRunning?: boolean;
}

/** Lets one write at a time change a session, under the rules that hold for every write. */
export class Changes {
  private readonly store: Store;
  private readonly surroundings: Surroundings;
  private readonly queued = new Map<string, number>();

  constructor(store: Store, surroundings: Surroundings) {
    this.store = store;
    this.surroundings = surroundings;
  }

  /**
   * Changes a session. Throws `session_not_found`, `session_completed`, `session_busy` while a run holds the session,
   * `sequence_conflict` where the caller expected another sequence, `too_busy` where too many writes wait, and what
   * `decide` throws.
   */
  async change<T>(
    ref: SessionRef,
    call: Call,
    lookups: readonly string[],
    decide: (current: Current) => Decision<T>,
    { evenCompleted = false, evenRunning = false }: Allowance = {},
  ): Promise<T> {
    const condition = conditionOf(call);
    const now = this.surroundings.now();
    const writing = () =>
      this.store.append(
        ref,
        lookups,
        (current) => {
          if (!evenCompleted && current.view.snapshot.status === "completed") {
            throw new OrchaError("session_completed", `session ${JSON.stringify(ref.sessionId)} is completed`);
          }
          if (!evenRunning && current.lease !== undefined && current.lease.until > now) {
            throw new OrchaError("session_busy", "a run holds this session");
          }
          return decide(current);
        },
        condition,
      );
    const changed = await this.inQueue(ref, () => showing(call, writing));
    if (!changed) throw sessionNotFound(ref.sessionId);
    return changed.result;
  }

  /** Removes a session for good. Throws `session_not_found` and `sequence_conflict`. */
  async remove(ref: SessionRef, call: Call): Promise<void> {
    const condition = conditionOf(call);
    const now = this.surroundings.now();
    const found = await this.inQueue(ref, () => showing(call, () => this.store.delete(ref, now, condition)));
    if (!found) throw sessionNotFound(ref.sessionId);
  }

  private async inQueue<T>(ref: SessionRef, run: () => Promise<T>): Promise<T> {
    const name = sessionName(ref);
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

/** Throws `sequence_conflict` where the caller expected another sequence than the session has. */
export function checkSequence(call: Call, current: Current): void {
  try {
    checkCondition(current, conditionOf(call));
  } catch (error) {
    throw shown(call, error);
  }
}

function conditionOf({ ifSequence }: Call): Pick<WriteCondition, "expectedSequence"> {
  return ifSequence === undefined ? {} : { expectedSequence: ifSequence };
}

async function showing<T>(call: Call, write: () => Promise<T>): Promise<T> {
  try {
    return await write();
  } catch (error) {
    throw shown(call, error);
  }
}

/** A conflict shows the session as it is, to callers that may read it. */
function shown({ principal }: Call, error: unknown): unknown {
  if (!(error instanceof OrchaError) || error.code !== "sequence_conflict" || principal.scopes.includes("read")) return error;
  return new OrchaError(error.code, error.message, { details: { sequence: error.details?.["sequence"] } });
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
