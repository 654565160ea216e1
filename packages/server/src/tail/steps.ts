import { lookupsOf, type SessionSnapshot } from "@orcha/contract";
import { readSnapshot, readWholeEvent } from "../reading.ts";
import { sessionName } from "../store/session-name.ts";
import type { SessionRef, Store } from "../store/store.ts";
import type { Bell } from "./bell.ts";

/** What happened behind an event: items as they are now, and the session. */
export interface Step {
  items: readonly { position: number; body: string }[];
  snapshot: SessionSnapshot;
  /** The last event that is told of. */
  through: number;
  /** There may be more behind it. */
  isCut: boolean;
  /** The step as it is written, made by the first reader for all of them. */
  memo: { text?: string };
}

/** How many events are told of at once. */
const batch = 500;

/** Reads what readers are told; those of one session, at one place, share what was read. */
export class Steps {
  private readonly store: Store;
  private readonly bell: Bell;
  private readonly last = new Map<string, { stamp: number; step: Promise<Step | "none" | "gone"> }>();

  constructor(store: Store, bell: Bell) {
    this.store = store;
    this.bell = bell;
  }

  /** The next step behind an event; "none" where nothing happened since, "gone" where the session is. */
  next(ref: SessionRef, after: number): Promise<Step | "none" | "gone"> {
    const stamp = this.bell.stamp(ref);
    const name = `${after} ${sessionName(ref)}`;
    const known = this.last.get(name);
    // Nothing has rung since it was read: it says what a read of now would.
    if (known && stamp !== undefined && known.stamp === stamp) return known.step;
    const step = this.read(ref, after);
    if (stamp === undefined) return step;
    this.last.set(name, { stamp, step });
    // For those that the same ring woke; without one, each looks for itself.
    const forget = (): void => {
      setTimeout(() => {
        if (this.last.get(name)?.step === step) this.last.delete(name);
      }, 50);
    };
    step.then(forget, forget);
    return step;
  }

  private async read(ref: SessionRef, after: number): Promise<Step | "none" | "gone"> {
    const bodies = await this.store.events(ref, after + 1, after + batch);
    if (!bodies) return "gone";
    if (bodies.length === 0) return "none";
    const through = after + bodies.length;
    const lookups = [...new Set(bodies.flatMap(lookupsOfBody))];
    const changed = await this.store.changed(ref, { after, through, lookups });
    if (!changed) return "gone";
    return { items: changed.items, snapshot: readSnapshot(changed.snapshot), through, isCut: bodies.length === batch, memo: {} };
  }
}

function lookupsOfBody(body: string): string[] {
  const event = readWholeEvent(body);
  return event ? lookupsOf(event) : [];
}
