import { advance, lookupsOf, lookupsOfItem, type Advance, type ItemVersion, type PlacedItem, type SessionEvent, type SessionView, type StoredItem } from "@orcha/contract";
import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { cpuTime } from "../cpu-time.ts";
import { eventLogs, logOf } from "../arbitraries.ts";
import { deepFreeze } from "./freeze.ts";

/** A store as plain as can be: every written version in a list, look-ups by reading all of it. */
class NaiveStore {
  view: SessionView | undefined;
  readonly versions: ItemVersion[] = [];
  readonly itemCounts: number[] = [];

  append(batch: readonly SessionEvent[], touched = this.touchedBy(batch)): Advance {
    const done = advance(this.view, touched, batch);
    this.view = done.view;
    this.versions.push(...done.versions);
    this.itemCounts.push(...done.itemCounts);
    return done;
  }

  /** No more than a store must find: of each key the newest item, and the open ones. */
  touchedBy(batch: readonly SessionEvent[]): Map<string, PlacedItem[]> {
    const touched = new Map<string, PlacedItem[]>();
    for (const lookup of batch.flatMap(lookupsOf)) {
      const found = this.found(lookup);
      const wanted = found.filter((placed, index) => index === found.length - 1 || isUnfinished(placed.item));
      if (wanted.length > 0) touched.set(lookup, wanted);
    }
    return touched;
  }

  /** Every item under every key. */
  everything(): Map<string, PlacedItem[]> {
    const lookups = this.versions.flatMap(({ item }) => lookupsOfItem(item));
    return new Map(lookups.map((lookup) => [lookup, this.found(lookup)]));
  }

  items(throughSequence = Number.POSITIVE_INFINITY): StoredItem[] {
    const items: StoredItem[] = [];
    for (const { position, item, sequence } of this.versions) if (sequence <= throughSequence) items[position] = item;
    return items;
  }

  private found(lookup: string): PlacedItem[] {
    const items = this.items();
    const positions = new Set(this.versions.filter(({ item }) => lookupsOfItem(item).includes(lookup)).map(({ position }) => position));
    return [...positions].sort((a, b) => a - b).flatMap((position) => {
      const item = items[position];
      return item ? [{ position, item: structuredClone(item) }] : [];
    });
  }
}

function isUnfinished(item: StoredItem): boolean {
  return "status" in item && ["running", "waiting", "paused"].includes(item.status);
}

function inOnePass(log: readonly SessionEvent[]): NaiveStore {
  const store = new NaiveStore();
  store.append(log);
  return store;
}

/** A log, and where it is cut into batches. */
function batches(): fc.Arbitrary<SessionEvent[][]> {
  return fc.tuple(eventLogs(), fc.array(fc.integer({ min: 1, max: 6 }), { minLength: 1 })).map(([log, sizes]) => {
    const cut: SessionEvent[][] = [];
    for (let start = 0; start < log.length; ) {
      const size = sizes[cut.length % sizes.length] ?? 1;
      cut.push(log.slice(start, start + size));
      start += size;
    }
    return cut;
  });
}

describe("advance", () => {
  it("comes to the same in any batches, knowing only the newest and the open items", () => {
    fc.assert(
      fc.property(batches(), (cut) => {
        const store = new NaiveStore();
        for (const batch of cut) store.append(batch);
        const whole = inOnePass(cut.flat());
        expect(store.versions).toEqual(whole.versions);
        expect(store.itemCounts).toEqual(whole.itemCounts);
        expect(store.view).toEqual(whole.view);
      }),
      { numRuns: 300 },
    );
  });

  it("comes to the same when it is told of every item", () => {
    fc.assert(
      fc.property(eventLogs(), (log) => {
        const store = new NaiveStore();
        for (const event of log) store.append([event], store.everything());
        expect(store.versions).toEqual(inOnePass(log).versions);
        expect(store.view).toEqual(inOnePass(log).view);
      }),
      { numRuns: 200 },
    );
  });

  it("numbers items without holes, each id once, and counts them after each event", () => {
    fc.assert(
      fc.property(batches(), (cut) => {
        const store = new NaiveStore();
        for (const batch of cut) store.append(batch);
        const fresh = store.versions.filter(({ isNew }) => isNew);
        expect(fresh.map(({ position }) => position)).toEqual(fresh.map((_, index) => index));
        expect(new Set(fresh.map(({ item }) => item.id)).size).toBe(fresh.length);
        const counts = cut.flat().map(({ sequence }) => fresh.filter((version) => version.sequence <= sequence).length);
        expect(store.itemCounts).toEqual(counts);
        expect(store.view?.itemCount).toBe(fresh.length);
      }),
      { numRuns: 200 },
    );
  });

  it("writes an item once for an event, and never moves, renames or redates it", () => {
    fc.assert(
      fc.property(batches(), (cut) => {
        const store = new NaiveStore();
        for (const batch of cut) store.append(batch);
        const first = new Map<number, StoredItem>();
        const timestamps = new Map(cut.flat().map(({ sequence, timestamp }) => [sequence, timestamp]));
        for (const { position, item, sequence } of store.versions) {
          const original = first.get(position) ?? item;
          first.set(position, original);
          expect([item.id, item.type, item.createdAt]).toEqual([original.id, original.type, original.createdAt]);
          expect(item.updatedAt ?? item.createdAt).toBe(timestamps.get(sequence));
        }
        const written = store.versions.map(({ position, sequence }) => `${position} at ${sequence}`);
        expect(new Set(written).size).toBe(written.length);
      }),
      { numRuns: 200 },
    );
  });

  it("lists as open exactly the items that aren't finished", () => {
    fc.assert(
      fc.property(batches(), (cut) => {
        const store = new NaiveStore();
        for (const batch of cut) store.append(batch);
        const unfinished = store.items().flatMap((item, position) => (isUnfinished(item) ? [position] : []));
        expect(store.view?.open.map(({ position }) => position).sort((a, b) => a - b)).toEqual(unfinished);
        for (const { position, ...open } of store.view?.open ?? []) expect(store.items()[position]).toMatchObject(open);
      }),
      { numRuns: 200 },
    );
  });

  it("keeps every pinned view: the last versions up to T are what the first T events make", () => {
    fc.assert(
      fc.property(batches(), fc.nat(), (cut, pick) => {
        const store = new NaiveStore();
        for (const batch of cut) store.append(batch);
        const log = cut.flat();
        const through = 1 + (pick % log.length);
        const then = inOnePass(log.slice(0, through));
        expect(store.items(through)).toEqual(then.items());
        expect(store.itemCounts[through - 1]).toBe(then.view?.itemCount);
      }),
      { numRuns: 200 },
    );
  });

  it("writes to nothing that it is given", () => {
    fc.assert(
      fc.property(batches(), (cut) => {
        const store = new NaiveStore();
        for (const batch of cut) {
          const touched = store.touchedBy(batch);
          const before = structuredClone(touched);
          if (store.view) deepFreeze(store.view);
          store.append(deepFreeze(structuredClone(batch)), touched);
          expect(touched).toEqual(before);
        }
      }),
      { numRuns: 100 },
    );
  });

  it("starts with session.created and nothing else", () => {
    const log = logOf([{ type: "run.started", data: {} }]);
    expect(() => advance(undefined, new Map(), log.slice(1))).toThrow("a log starts with session.created, not run.started");
    expect(() => advance(undefined, new Map(), [])).toThrow(TypeError);
    const { view } = advance(undefined, new Map(), log);
    expect(advance(view, new Map(), [])).toEqual({ view, versions: [], itemCounts: [] });
  });

  it("takes 10,000 events on one call id in a moment", () => {
    const store = new NaiveStore();
    const requests = Array.from({ length: 5000 }, () => ({ type: "action.requested" as const, data: { callId: "a", name: "look" } }));
    const results = Array.from({ length: 5000 }, () => ({ type: "action.completed" as const, data: { callId: "a", name: "look" } }));
    const start = cpuTime();
    store.append(logOf([...requests, ...results]));
    expect(store.view?.open).toEqual([]);
    expect(cpuTime() - start).toBeLessThan(10_000);
  });
});
