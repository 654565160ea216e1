import type { OperationName } from "@orcha/contract";
import type { Call } from "./call.ts";
import { readInput } from "./input.ts";
import { pageFields, readItem, readWholeEvent, wholeSnapshot, type PageInput, type Reading } from "./reading.ts";
import type { StoredPage } from "./store/store.ts";

/** The reads whose answers are put together from stored text. */
export type SplicedName = "history" | "events";

/** An answer as JSON text, and the sequence of the session in it. */
export interface SplicedAnswer {
  text: string;
  sequence: number;
}

/** Tells whether an operation's answers can be spliced. */
export function isSpliced(operation: OperationName): operation is SplicedName {
  return operation === "history" || operation === "events";
}

/**
 * Answers pages without taking their stored JSON apart and writing it anew.
 *
 * A disk may damage a text, and one broken item would break the whole answer. So a page is spliced only where the
 * ordinary path's own readers took each of its bodies: when it is first seen, and again whenever its text is not,
 * character by character, the one that they took. Comparing costs a tenth of parsing.
 */
export class Splicing {
  private readonly reading: Reading;
  private readonly whole = new WholeTexts();

  constructor(reading: Reading) {
    this.reading = reading;
  }

  /** Answers a page. Throws what the operation throws. */
  async answer(operation: SplicedName, call: Call, given: unknown): Promise<SplicedAnswer> {
    const input = await readInput(operation, given);
    return operation === "history" ? this.history(call, input) : this.events(call, input);
  }

  private async history(call: Call, input: PageInput): Promise<SplicedAnswer> {
    const stored = await this.reading.historyPage(call, input);
    const spliced = this.splice("items", call, input, stored);
    return spliced ?? written(await this.reading.composeHistory(call, input, stored));
  }

  private async events(call: Call, input: PageInput): Promise<SplicedAnswer> {
    const stored = await this.reading.eventPage(call, input);
    return this.splice("events", call, input, stored) ?? written(await this.reading.composeEvents(call, input, stored));
  }

  private splice(field: "items" | "events", call: Call, input: PageInput, stored: StoredPage): SplicedAnswer | undefined {
    const snapshot = wholeSnapshot(stored.snapshot);
    if (!snapshot) return undefined;
    const { agent, sessionId, page, pageSize } = input;
    const list = stored.bodies.join(",");
    const name = [field, call.principal.tenant, agent, sessionId, page, pageSize].join("\n");
    if (!this.whole.knows(name, list)) {
      const read = field === "items" ? readItem : readWholeEvent;
      if (!stored.bodies.every((body) => read(body) !== undefined)) return undefined;
      this.whole.keep(name, list);
    }
    const fields = JSON.stringify(pageFields(stored, input)).slice(1, -1);
    return { text: `{"${field}":[${list}],${fields},${stored.snapshot.trimStart().slice(1)}`, sequence: snapshot.sequence };
  }
}

function written(answer: { sequence: number }): SplicedAnswer {
  return { text: JSON.stringify(answer), sequence: answer.sequence };
}

/** How many characters of pages are remembered, and how long one may be. */
const maxKept = 8_388_608;
const maxLength = 262_144;

/** The texts of pages that were found whole, the oldest forgotten first. */
class WholeTexts {
  private readonly texts = new Map<string, string>();
  private kept = 0;

  /** Tells whether this is, to the letter, the text that was kept under the name. */
  knows(name: string, text: string): boolean {
    return this.texts.get(name) === text;
  }

  keep(name: string, text: string): void {
    this.forget(name);
    if (text.length > maxLength) return;
    this.texts.set(name, text);
    this.kept += text.length;
    for (const oldest of this.texts.keys()) {
      if (this.kept <= maxKept) break;
      this.forget(oldest);
    }
  }

  private forget(name: string): void {
    this.kept -= this.texts.get(name)?.length ?? 0;
    this.texts.delete(name);
  }
}
