import type { HistoryItem } from "@orcha/client";
import type { TestClient } from "../harness.ts";

/** A tab that shows a session: pages on demand, and a tail behind the first one. */
export class Reader {
  /** What went wrong on the way: a place whose item became another one, or an item in two places. */
  readonly faults: string[] = [];
  private readonly places = new Map<number, HistoryItem>();
  private readonly placeOf = new Map<string, number>();
  private readonly controller = new AbortController();
  private readonly orcha: TestClient;
  private readonly sessionId: string;
  private first = 0;
  private throughSequence = 0;
  private following: Promise<void> | undefined;

  constructor(orcha: TestClient, sessionId: string) {
    this.orcha = orcha;
    this.sessionId = sessionId;
  }

  /** Reads the newest page, and follows what comes behind it; `pause` is taken between two frames. */
  async open(pause: () => Promise<void>): Promise<void> {
    const page = await this.orcha.supportAgent.history(this.sessionId, { pageSize: 10 });
    this.throughSequence = page.throughSequence;
    this.first = page.total - page.items.length;
    for (const [index, item] of page.items.entries()) this.show(this.first + index, item);
    this.following = this.follow(pause);
  }

  /** Reads one page more of what is older, of the view that the reader began with. */
  async older(): Promise<void> {
    if (this.first === 0) return;
    const { total } = await this.orcha.supportAgent.history(this.sessionId, { throughSequence: this.throughSequence, pageSize: 1 });
    const page = (total - this.first) / 10 + 1;
    if (!Number.isInteger(page)) return;
    const older = await this.orcha.supportAgent.history(this.sessionId, { page, pageSize: 10, throughSequence: this.throughSequence });
    const first = this.first - older.items.length;
    // The tail may have been there first, with something newer.
    for (const [index, item] of older.items.entries()) if (!this.places.has(first + index)) this.show(first + index, item);
    this.first = first;
  }

  /** What the tab shows, oldest first. */
  shown(): HistoryItem[] {
    return [...this.places].filter(([place]) => place >= this.first).sort(([left], [right]) => left - right).map(([, item]) => item);
  }

  /** The place of the first item that is shown. */
  get start(): number {
    return this.first;
  }

  async close(): Promise<void> {
    this.controller.abort();
    await this.following;
  }

  private async follow(pause: () => Promise<void>): Promise<void> {
    for await (const frame of this.orcha.supportAgent.tail(this.sessionId, { after: this.throughSequence, signal: this.controller.signal })) {
      if (frame.type === "item") this.show(frame.position, frame.item);
      await pause();
    }
  }

  private show(place: number, item: HistoryItem): void {
    const before = this.places.get(place);
    if (before && before.id !== item.id) this.faults.push(`${item.id} took the place of ${before.id}`);
    const other = this.placeOf.get(item.id);
    if (other !== undefined && other !== place) this.faults.push(`${item.id} is at ${other} and at ${place}`);
    this.places.set(place, item);
    this.placeOf.set(item.id, place);
  }
}
