import { invalidInput, OrchaError, type Agents, type SessionSnapshot, type TailFrame, type TailPiece } from "@orcha/contract";
import { agentOf, refOf, sessionNotFound, type Call } from "../call.ts";
import { readItem, readSnapshot, type SessionInput } from "../reading.ts";
import { readDraft } from "../runs/draft.ts";
import type { LiveRun } from "../runs/live-run.ts";
import type { LiveRuns } from "../runs/live-runs.ts";
import type { SessionRef, Store } from "../store/store.ts";
import { Bell } from "./bell.ts";
import { Steps } from "./steps.ts";

export interface TailInput extends SessionInput {
  after?: number;
}

/** A frame, and where the reader goes on from once it has it: the last event that it was wholly told of. */
export interface NumberedFrame {
  frame: TailFrame;
  /** Only items and snapshots carry it. */
  id?: number;
}

/** Frames that come at once. */
export interface Told {
  frames: readonly NumberedFrame[];
  /** Where others are told the same: what was written for the first one. */
  memo?: { text?: string };
}

interface Parts {
  agents: Agents;
  store: Store;
  live: LiveRuns;
}

/** How long a lost notice may go unnoticed, in milliseconds. */
const lookMs = 5000;

/** How often the answer in the making of another process is looked at, in milliseconds. */
const draftMs = 500;

/** How long a piece is waited for, in milliseconds. */
const pieceMs = 20_000;

/** How long a piece with nothing but text in it waits for more, in milliseconds. */
const textPieceMs = 500;

/*
 *            ┌──────────────── news, or time to look ────────────────┐
 *            ▼                                                       │
 *   events behind `after` ──▶ items that they changed ──▶ snapshot ──┴── none left: ready, text ──▶ wait
 *            │
 *            └── session completed or gone: end            drain: reconnect
 *
 * Nothing is queued for a reader: it is told of the state as it is when it has room, so a slow one gets fewer, later ones.
 */

/** Tells readers what changes in a session, from the log, whoever writes it. */
export class Tailing {
  private readonly parts: Parts;
  private readonly bell: Bell;
  private readonly steps: Steps;
  private readonly draining = new AbortController();

  constructor(parts: Parts) {
    this.parts = parts;
    this.bell = new Bell(parts.store);
    this.steps = new Steps(parts.store, this.bell);
  }

  /** Asks every reader to open its stream again. */
  drain(): void {
    this.draining.abort();
  }

  /** Opens a tail. Throws `session_not_found`, and `invalid_input` for an `after` in the future, before the first frame. */
  async open(call: Call, input: TailInput, signal: AbortSignal): Promise<AsyncGenerator<Told, void>> {
    agentOf(this.parts.agents, input.agent);
    const ref = refOf(call, input);
    const text = await this.parts.store.snapshot(ref);
    if (text === undefined) throw sessionNotFound(input.sessionId);
    const snapshot = readSnapshot(text);
    const { sequence } = snapshot;
    const after = input.after ?? sequence;
    if (after > sequence) throw invalidInput(["after"], `must be at most ${sequence}, the session's sequence`);
    return this.frames(ref, after, snapshot, signal);
  }

  /** Waits for the next piece of a tail, within half a minute, and no longer than its caller does. */
  async piece(call: Call, input: TailInput, caller: AbortSignal): Promise<TailPiece> {
    const controller = new AbortController();
    const end = (): void => controller.abort();
    if (caller.aborted) end();
    caller.addEventListener("abort", end, { once: true });
    let timer = setTimeout(end, pieceMs);
    const frames: TailFrame[] = [];
    let { after } = input;
    try {
      for await (const told of await this.open(call, input, controller.signal)) {
        for (const { frame, id } of told.frames) {
          // Whoever comes for pieces comes again at once, but waits after this.
          if (frame.type === "reconnect") throw new OrchaError("too_busy", frame.reason);
          if (frame.type === "ready" && after === undefined) after = frame.sequence;
          if (id !== undefined) after = id;
          // Each piece tells the text from its beginning: whoever comes for the next one has it already, or most of it.
          if (frame.type === "text" && !frames.some(({ type }) => type === "text")) {
            clearTimeout(timer);
            timer = setTimeout(end, textPieceMs);
          }
          frames.push(frame);
        }
        // That nothing has happened yet is no piece.
        if (frames.some(({ type }) => type !== "ready" && type !== "text")) break;
      }
    } finally {
      clearTimeout(timer);
      caller.removeEventListener("abort", end);
      controller.abort();
    }
    return { frames, after: after ?? 0 };
  }

  private async *frames(ref: SessionRef, start: number, found: SessionSnapshot, given: AbortSignal): AsyncGenerator<Told, void> {
    const waiter = new Waiter();
    const wake = (): void => waiter.wake();
    const leave = this.bell.listen(ref, wake);
    const { signal: drain } = this.draining;
    given.addEventListener("abort", wake);
    drain.addEventListener("abort", wake);
    const told = new ToldText();
    let after = start;
    let snapshot = found;
    let isReady = false;
    try {
      while (!given.aborted) {
        if (drain.aborted) {
          yield only({ type: "reconnect", reason: "the server is about to end" });
          return;
        }
        waiter.reset();
        const step = await this.steps.next(ref, after);
        if (step === "gone") {
          yield only({ type: "end", reason: "deleted" });
          return;
        }
        if (step !== "none") {
          const id = after;
          ({ snapshot, through: after } = step);
          yield {
            frames: [
              ...step.items.map(({ position, body }) => ({ frame: { type: "item" as const, item: itemOf(body, position), position }, id })),
              { frame: { type: "snapshot", snapshot }, id: after },
            ],
            memo: step.memo,
          };
          if (step.isCut) continue;
        }
        if (!isReady) yield only({ type: "ready", sequence: after });
        isReady = true;
        if (snapshot.status === "completed") {
          yield only({ type: "end", reason: "completed" });
          return;
        }
        const isAtWork = snapshot.runStatus === "running";
        const live = this.parts.live.get(ref);
        // Before the text is read: what is shown while a slow reader takes it is news.
        const unwatch = live?.onShow(wake);
        try {
          const text = isAtWork ? await this.text(ref, live) : undefined;
          const frame = text && told.next(text);
          if (frame) yield only(frame);
          await waiter.wait(isAtWork && !live ? draftMs : lookMs);
        } finally {
          unwatch?.();
        }
      }
    } finally {
      leave();
      given.removeEventListener("abort", wake);
      drain.removeEventListener("abort", wake);
    }
  }

  /** The answer in the making: this process's own as it is, another's as it was last stored. */
  private async text(ref: SessionRef, live: LiveRun | undefined): Promise<RoundText | undefined> {
    if (live) {
      const { shown } = live;
      return shown?.status === "streaming" ? { run: shown.run, round: shown.round, text: shown.output } : undefined;
    }
    const stored = await this.parts.store.draft(ref);
    return stored && readDraft(stored.body);
  }
}

interface RoundText {
  run: number;
  round: number;
  text: string;
}

/** Remembers what a reader has of the answer in the making. */
class ToldText {
  private run = 0;
  private round = -1;
  private length = 0;

  /** What is new, if anything is; rounds never go back. */
  next({ run, round, text }: RoundText): TailFrame | undefined {
    const isSame = run === this.run && round === this.round;
    if (!isSame && (run < this.run || (run === this.run && round < this.round))) return undefined;
    const offset = isSame ? this.length : 0;
    if (text.length <= offset) return undefined;
    Object.assign(this, { run, round, length: text.length });
    return { type: "text", run, round, offset, text: text.slice(offset) };
  }
}

/** Waits for a wake-up that may have come already. */
class Waiter {
  private isAwake = false;
  private resolve: () => void = () => {};

  wake(): void {
    this.isAwake = true;
    this.resolve();
  }

  reset(): void {
    this.isAwake = false;
  }

  async wait(milliseconds: number): Promise<void> {
    if (this.isAwake) return;
    let timer: ReturnType<typeof setTimeout> | undefined;
    await new Promise<void>((resolve) => {
      this.resolve = resolve;
      timer = setTimeout(resolve, milliseconds);
    });
    clearTimeout(timer);
  }
}

function only(frame: TailFrame): Told {
  return { frames: [{ frame }] };
}

type WireItem = Extract<TailFrame, { type: "item" }>["item"];

function itemOf(body: string, position: number): WireItem {
  const item = readItem(body);
  // Where it was made is asked for by pages only; its place names it here.
  return item ?? { id: `unreadable:${position}`, type: "unreadable", createdAt: new Date(0).toISOString(), reason: "the stored item is damaged" };
}
