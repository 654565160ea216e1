import { OrchaError } from "@orcha/contract";
import type { Lease, SessionRef, Store } from "../store/store.ts";
import type { Surroundings } from "../surroundings.ts";

/** How the leases of this process are. */
export interface LeaseTerms {
  /** How long a run may be silent before another server takes it over, in milliseconds. */
  leaseMs: number;
  /** A new lease that starts now, behind one of the given fence. */
  next: (fence: number, now: number) => Lease;
  /** One behind it that has run out: whoever looks for what is due goes on. */
  left: (fence: number) => Lease;
}

/** Names each lease anew: a process that starts again is another owner, and what it held before counts as left. */
export function leaseTerms(leaseMs: number): LeaseTerms {
  const host = crypto.randomUUID();
  let count = 0;
  const after = (fence: number, until: number): Lease => ({ owner: `${host}:${(count += 1)}`, until, fence: fence + 1 });
  return {
    leaseMs,
    next: (fence, now) => after(fence, now + leaseMs),
    left: (fence) => after(fence, 1),
  };
}

/** Renews a run's lease until it is told to stop, or finds that another process has it. */
export class LeaseKeeper {
  private readonly store: Store;
  private readonly ref: SessionRef;
  private readonly surroundings: Surroundings;
  private readonly leaseMs: number;
  private readonly onLost: () => void;
  private readonly timer: ReturnType<typeof setInterval>;
  private lease: Lease;

  constructor(store: Store, ref: SessionRef, lease: Lease, leaseMs: number, surroundings: Surroundings, onLost: () => void) {
    this.store = store;
    this.ref = ref;
    this.lease = lease;
    this.leaseMs = leaseMs;
    this.surroundings = surroundings;
    this.onLost = onLost;
    this.timer = setInterval(() => void this.renew(), leaseMs / 4);
  }

  get fence(): number {
    return this.lease.fence;
  }

  /** The lease as the run's last write leaves it. */
  ended(): Lease {
    return { ...this.lease, until: 0 };
  }

  stop(): void {
    clearInterval(this.timer);
  }

  private async renew(): Promise<void> {
    const now = this.surroundings.now();
    const { owner, fence } = this.lease;
    try {
      const renewed = await this.store.takeLease(this.ref, { owner, until: now + this.leaseMs, now, renews: fence });
      if (renewed) this.lease = renewed;
      else this.lose();
    } catch (error) {
      // A store that is away for a moment is no reason, as long as the lease lasts.
      const isOver = error instanceof OrchaError && error.code === "session_busy";
      if (isOver || this.surroundings.now() >= this.lease.until) this.lose();
    }
  }

  private lose(): void {
    this.stop();
    this.onLost();
  }
}
