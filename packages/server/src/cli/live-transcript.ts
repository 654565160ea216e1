import { isOrchaError, type AgentClient, type HistoryItem } from "@orcha/client";
import { itemText, messageText } from "./item-text.ts";
import { Progress } from "./progress.ts";
import type { Terminal } from "./terminal.ts";
import { plain, printable } from "./text.ts";

const pageSize = 100;

/*
 *   text in the making ──▶ grows on the screen ─┐
 *   history, read when a round ends ────────────┴──▶ the rest of that text, then what was done: each item once, in order
 */

/**
 * Shows a session's new items as they come. The history is what counts: of the text in the making a slow reader misses
 * some, and what is missing follows when its message is in the history.
 */
export class LiveTranscript {
  private readonly terminal: Terminal;
  private readonly client: AgentClient;
  private sessionId: string | undefined;
  private readonly isStructured: boolean;
  private readonly progress = new Progress();
  /** How many items of the history are on the screen. */
  private seen: number;
  /** The text in the making as far as it is on the screen. */
  private shown = "";
  private round: number | undefined;
  /** The history was faster than the text in the making: what is left of that round has been told. */
  private toldRound: number | undefined;
  /** The last whole message that wasn't seen in the making. */
  private lastSaid: string | undefined;
  /** Who may run an agent may not be allowed to read. */
  private canRead = true;

  /** `seen` items of the history are known already. An answer that `isStructured` is shown when it is whole. */
  constructor(terminal: Terminal, client: AgentClient, { seen, isStructured }: { seen: number; isStructured: boolean }) {
    this.terminal = terminal;
    this.client = client;
    this.seen = seen;
    this.isStructured = isStructured;
  }

  /** Names the session, and starts with its next run. */
  follow(sessionId: string): void {
    this.sessionId = sessionId;
    this.round = undefined;
    this.toldRound = undefined;
    this.lastSaid = undefined;
  }

  /** Takes all that is there for known. */
  skipTo(total: number): void {
    this.seen = total;
  }

  /** Shows how far an answer is. */
  async grow(round: number, output: string): Promise<void> {
    this.progress.clear();
    const text = printable(output);
    if (round !== this.round) {
      // What earlier rounds did stands before this one's text, also where they said nothing themselves.
      if (round > 0) await this.catchUp();
      this.round = round;
      if (this.lastSaid?.startsWith(text) === true) this.toldRound = round;
    }
    if (this.isStructured || round === this.toldRound) return;
    if (!text.startsWith(this.shown)) await this.endLine();
    await this.terminal.write(text.slice(this.shown.length));
    this.shown = text;
    this.lastSaid = undefined;
  }

  /** Shows what has been done meanwhile, and what is at work now. */
  async wait(): Promise<void> {
    const atWork = await this.catchUp();
    if (atWork && this.shown === "") this.progress.show(() => this.terminal.style("dim", `  … ${plain(atWork)}`));
  }

  /** Shows all there is, and ends the line. `output` is the run's answer, where there is one. */
  async end(output?: unknown): Promise<void> {
    await this.catchUp({ isOver: true });
    if (output !== undefined && typeof output !== "string") await this.say(printable(JSON.stringify(output, undefined, 2)));
    else if (output !== undefined && !this.canRead) await this.say(printable(output));
    await this.endLine();
  }

  /** Answers what is at work: items behind it come when it has ended, so that all are shown in their order. */
  private async catchUp({ isOver = false } = {}): Promise<string | undefined> {
    for (const item of await this.newItems()) {
      const isAtWork = (item.type === "action" || item.type === "subagent") && item.status === "running";
      if (isAtWork && !isOver) return item.summary;
      this.seen += 1;
      if (this.isToldElsewhere(item)) continue;
      if (item.type === "message") {
        if (!this.isStructured) await this.say(messageText(item));
      } else {
        await this.endLine();
        await this.terminal.write(`${itemText(this.terminal, item)}\n`);
      }
    }
    return undefined;
  }

  private isToldElsewhere(item: HistoryItem): boolean {
    // Whoever watches has just said it.
    if (item.type === "message") return item.role === "user";
    // The end of the run, or a question, says what waits.
    if (item.type === "client_action") return item.status === "waiting";
    // A judgement of the run before has no place in the midst of an answer: /history has it.
    return item.type === "evaluation" && this.shown !== "";
  }

  /** Says a whole text, of which some may be on the screen. */
  private async say(text: string): Promise<void> {
    this.progress.clear();
    const isSeen = this.shown !== "" && text.startsWith(this.shown);
    if (isSeen) this.toldRound = this.round;
    else this.lastSaid = text;
    if (!isSeen) await this.endLine();
    await this.terminal.write(`${text.slice(this.shown.length)}\n`);
    this.shown = "";
  }

  /** Lets what follows begin on a line of its own. */
  async endLine(): Promise<void> {
    this.progress.clear();
    if (this.shown !== "" && !this.shown.endsWith("\n")) await this.terminal.write("\n");
    this.shown = "";
  }

  private async newItems(): Promise<HistoryItem[]> {
    const { sessionId } = this;
    if (!this.canRead || sessionId === undefined) return [];
    try {
      const items: HistoryItem[] = [];
      for (let page = 1, pinned: number | undefined; ; page += 1) {
        const answer = await this.client.history(sessionId, { page, pageSize, ...(pinned === undefined ? {} : { throughSequence: pinned }) });
        pinned = answer.throughSequence;
        items.unshift(...answer.items);
        const missing = answer.total - this.seen;
        if (items.length >= missing || !answer.hasMore) return missing <= 0 ? [] : items.slice(-missing);
      }
    } catch (error) {
      if (!isOrchaError(error)) throw error;
      // Nothing is lost: the next look, or the end, shows it.
      if (error.code === "forbidden") this.canRead = false;
      return [];
    }
  }
}
