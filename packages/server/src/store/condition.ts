import { OrchaError } from "@orcha/contract";
import type { Current, Lease, WantedLease, WriteCondition } from "./store.ts";

/** Throws where a write's condition doesn't hold: `sequence_conflict` with the snapshot, `session_busy` for a lost lease. */
export function checkCondition({ view, lease }: Current, condition: WriteCondition | undefined): void {
  const { sequence } = view.snapshot;
  const expected = condition?.expectedSequence;
  if (expected !== undefined && expected !== sequence) {
    throw new OrchaError("sequence_conflict", `the session is at sequence ${sequence}, not ${expected}`, {
      details: { sequence, snapshot: view.snapshot },
    });
  }
  if (condition?.fence !== undefined && condition.fence !== lease?.fence) {
    throw new OrchaError("session_busy", "another run has taken this session over");
  }
}

/**
 * The lease that `wanted` becomes after `held`. Throws `session_busy` where another owner still holds it, and where a
 * renewal comes after the lease's end.
 */
export function nextLease(held: Lease | undefined, { owner, until, now, renews }: WantedLease): Lease {
  const isHeld = held !== undefined && held.until > now;
  if (isHeld && held.owner !== owner) throw new OrchaError("session_busy", "another run holds this session");
  if (renews !== undefined && !(isHeld && held.fence === renews)) throw new OrchaError("session_busy", "the lease to renew has ended");
  return { owner, until, fence: isHeld ? held.fence : (held?.fence ?? 0) + 1 };
}
