import { OrchaError } from "@orcha/contract";
import { nextLease } from "./condition.ts";
import type { PostgresParts } from "./postgres-open.ts";
import { leaseOf } from "./postgres-read.ts";
import { nameOf } from "./postgres-rows.ts";
import type { Lease, SessionRef, WantedLease } from "./store.ts";

/** How often a lease is tried while others move it. */
const maxTries = 20;

/** Takes or renews a session's lease. Throws `session_busy` where another owner holds it, and where what it renews has ended. */
export async function takeLease(
  { connections, statements }: PostgresParts,
  ref: SessionRef,
  wanted: WantedLease,
): Promise<Lease | undefined> {
  for (let tries = 0; tries < maxTries; tries += 1) {
    const [row] = await connections.query(statements.findSession, nameOf(ref));
    if (!row) return undefined;
    const lease = nextLease(leaseOf(row), wanted);
    const values = [row.key, lease.owner, lease.until, lease.fence, row.lease_until, row.lease_fence];
    const moved = await connections.query(statements.moveLease, values);
    if (moved.length > 0) return lease;
  }
  throw new OrchaError("session_busy", "other runs keep taking this session");
}
