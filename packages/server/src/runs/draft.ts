import type { EventInput } from "@orcha/contract";
import type { Draft, Lease, SessionRef, Store } from "../store/store.ts";
import { roundOf, type LastRun } from "./run-log.ts";

/** An answer in the making as it is stored. */
export interface DraftText {
  run: number;
  /** Counts the model's answers in the run, from 0, and the servers that began one anew. */
  round: number;
  text: string;
}

/** How often the answer in the making is stored, in milliseconds: never for each token. */
const intervalMs = 400;

/** What of a draft the log doesn't have: the text of the round that the lease's holder is at. */
export function unlogged(draft: Draft | undefined, run: LastRun | undefined, lease: Lease | undefined): DraftText | undefined {
  const text = draft && readDraft(draft.body);
  const isHeld = lease !== undefined && lease.until > 0 && draft?.fence === lease.fence;
  return isHeld && run && text?.run === run.number && text.round === roundOf(run, lease.fence) ? text : undefined;
}

/** Reads a stored draft; nothing where it is damaged. */
export function readDraft(body: string): DraftText | undefined {
  try {
    const { run, round, text }: Partial<DraftText> = JSON.parse(body);
    return typeof run === "number" && typeof round === "number" && typeof text === "string" ? { run, round, text } : undefined;
  } catch {
    return undefined;
  }
}

/** Stores the answer in the making now and then, so that late readers and other servers see the text so far. */
export class DraftKeeper {
  private readonly store: Store;
  private readonly ref: SessionRef;
  private readonly fence: number;
  private readonly onLost: () => void;
  private newest: DraftText | undefined;
  private timer: ReturnType<typeof setTimeout> | undefined;
  private saving: Promise<unknown> | undefined;

  constructor(store: Store, ref: SessionRef, fence: number, onLost: () => void) {
    this.store = store;
    this.ref = ref;
    this.fence = fence;
    this.onLost = onLost;
  }

  /** Takes the text so far; a short answer is over before it is stored. */
  write(draft: DraftText): void {
    this.newest = draft;
    this.timer ??= setTimeout(() => {
      this.saving = this.save();
    }, intervalMs);
  }

  /**
   * The text is about to be in the log: tells whether the write has anything to take back. Waits for what is being
   * stored, which would come behind that write.
   */
  async end(): Promise<boolean> {
    this.halt();
    const { saving } = this;
    this.saving = undefined;
    await saving;
    return saving !== undefined;
  }

  /** Ends the keeping; with `save`, what is known is stored once more. */
  async close(save: boolean): Promise<void> {
    const draft = this.halt();
    await this.saving;
    if (!save || !draft) return;
    await this.store.saveDraft(this.ref, { fence: this.fence, body: JSON.stringify(draft) }).catch(() => false);
  }

  private halt(): DraftText | undefined {
    const { newest } = this;
    clearTimeout(this.timer);
    this.timer = undefined;
    this.newest = undefined;
    return newest;
  }

  private async save(): Promise<void> {
    const draft = this.newest;
    if (!draft) return;
    try {
      if (!(await this.store.saveDraft(this.ref, { fence: this.fence, body: JSON.stringify(draft) }))) this.onLost();
    } catch {
      // The draft is a convenience: the log gets the whole text, or the lease's end tells.
    } finally {
      this.timer = undefined;
      if (this.newest && this.newest !== draft) this.write(this.newest);
    }
  }
}

/** What was said of an answer that its process can't finish. */
export function partialOf(draft: DraftText | undefined): EventInput[] {
  if (!draft || draft.text === "") return [];
  const content = [{ type: "text" as const, text: draft.text }];
  return [{ type: "message.created", run: draft.run, data: { role: "assistant", status: "incomplete", content } }];
}
