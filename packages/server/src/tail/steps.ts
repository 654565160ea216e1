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
  /** There is more behind it. */
  isCut: boolean;
  /** The step as it is written, made by the first reader for all of them. */
  memo: { text?: string };
}

/** How many events are told of at once. */
const batch = 500;

/** How large they are together, up to the last one: a step is held in memory several times over, for each reader. */
const maxBytes = 4_194_304;

/** How many items of earlier steps they may change: those are read whole, whatever an event says of them. */
const maxLookups = 50;

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
    const forget = (): void => {
      if (this.last.get(name)?.step === step) this.last.delete(name);
    };
    // For those that the same ring woke; without one, each looks for itself.
    const forgetSoon = (): void => void setTimeout(forget, 50);
    // Who catches up does so alone, and fast: what is behind it would pile up.
    step.then((told) => (typeof told === "object" && told.isCut ? forget() : forgetSoon()), forgetSoon);
    return step;
  }

  private async read(ref: SessionRef, after: number): Promise<Step | "none" | "gone"> {
    const bodies = await this.store.events(ref, after + 1, after + batch, maxBytes);
    if (!bodies) return "gone";
    if (bodies.length === 0) return "none";
    const lookups = new Set<string>();
    let through = after;
    for (const body of bodies) {
      if (lookups.size >= maxLookups) break;
      for (const lookup of lookupsOfBody(body)) lookups.add(lookup);
      through += 1;
    }
    const changed = await this.store.changed(ref, { after, through, lookups: [...lookups] });
    if (!changed) return "gone";
    const snapshot = readSnapshot(changed.snapshot);
    return { items: changed.items, snapshot, through, isCut: through < snapshot.sequence, memo: {} };
  }
}

function lookupsOfBody(body: string): string[] {
  const event = readWholeEvent(body);
  return event ? lookupsOf(event) : [];
}
