import { createdEvent, writeOf } from "./batch.ts";
import type { Move, SessionRef, Store } from "./store/store.ts";
import type { Surroundings } from "./surroundings.ts";

/*
 * Sessions that are being put together, under a tenant that no principal can have and no caller can name:
 *
 *   (reserved, "import", <id>)       stands for one import; its lease says that somebody still works at it
 *   (reserved, "staged", <id>.1)     the first session of that import, and so on
 *
 * Publishing renames all of them at once. What a crash leaves is removed by a later import, once the lease has run out.
 */

/** Starts with a control character, which `principalFault` refuses. */
const tenant = "\u0001import";

/** How long an import may be silent before others clear it away. */
const leaseMs = 60_000;

/** A place where sessions grow unseen until they are whole. */
export class Staging {
  private readonly store: Store;
  private readonly surroundings: Surroundings;
  private readonly marker: SessionRef;
  private readonly moves: Move[] = [];
  private renewedAt = 0;

  private constructor(store: Store, surroundings: Surroundings, id: string) {
    this.store = store;
    this.surroundings = surroundings;
    this.marker = { tenant, agent: "import", sessionId: id };
  }

  /** Opens a new place, and clears away what crashed imports left. */
  static async open(store: Store, surroundings: Surroundings): Promise<Staging> {
    await clearLeftovers(store, surroundings.now());
    const staging = new Staging(store, surroundings, surroundings.sessionId());
    const { agent, sessionId } = staging.marker;
    const created = createdEvent({ sessionId, agent, metadata: {}, variables: {} });
    await store.create(staging.marker, writeOf([created], undefined, { now: surroundings.now() }));
    await staging.renew();
    return staging;
  }

  /** Says that somebody still works here; now and then is enough. */
  async renew(): Promise<void> {
    const now = this.surroundings.now();
    if (now - this.renewedAt < leaseMs / 6) return;
    await this.store.takeLease(this.marker, { owner: this.marker.sessionId, until: now + leaseMs, now });
    this.renewedAt = now;
  }

  /** A name to build a session under that shall be called `to`. */
  add(to: SessionRef): SessionRef {
    const from = stagedRef(this.marker, this.moves.length + 1);
    this.moves.push({ from, to });
    return from;
  }

  /** Gives every session its name, all at once. Throws `session_exists`. */
  async publish(): Promise<void> {
    await this.store.publish(this.moves);
    // The sessions are there, whatever becomes of the marker.
    await this.discard().catch(() => {});
  }

  /** Removes everything that was not published. */
  async discard(): Promise<void> {
    await clear(this.store, this.marker, this.surroundings.now());
  }
}

function stagedRef(marker: SessionRef, number: number): SessionRef {
  return { tenant, agent: "staged", sessionId: `${marker.sessionId}.${number}` };
}

async function clearLeftovers(store: Store, now: number): Promise<void> {
  const snapshots = await store.list({ tenant, agent: "import", limit: 1000 });
  for (const snapshot of snapshots) {
    const { sessionId }: { sessionId: string } = JSON.parse(snapshot);
    const marker = { tenant, agent: "import", sessionId };
    const current = await store.read(marker, []);
    const isAlive = current?.lease !== undefined && current.lease.until > now;
    // Between its creation and its first lease an import has only the time of its marker.
    const isNew = current !== undefined && Date.parse(current.view.snapshot.createdAt) > now - leaseMs;
    if (!isAlive && !(isNew && current.lease === undefined)) await clear(store, marker, now);
  }
}

async function clear(store: Store, marker: SessionRef, now: number): Promise<void> {
  // Each number is used before the next one, so the first that never was is behind the last.
  for (let number = 1; await store.delete(stagedRef(marker, number), now); number += 1);
  await store.delete(marker, now);
}
