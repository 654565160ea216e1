import { once } from "node:events";
import { styleText } from "node:util";
import { Interrupted } from "./failure.ts";

type Style = Parameters<typeof styleText>[0];

/** Where a command reads and writes, and how it hears of Ctrl-C. */
export class Terminal {
  private readonly stop = new AbortController();
  private isHeard = false;
  private handler: ((exitCode: number) => void) | undefined;

  /** How wide tables may be; without a terminal as wide as they are. */
  get width(): number {
    return process.stdout.isTTY ? process.stdout.columns : Number.POSITIVE_INFINITY;
  }

  /** Whether somebody watches the output. */
  get isWatched(): boolean {
    return process.stdout.isTTY;
  }

  /** Whether somebody can be asked. */
  get canAsk(): boolean {
    return process.stdin.isTTY && process.stdout.isTTY;
  }

  /** Colours text on a terminal only, and not where NO_COLOR is set. */
  style(style: Style, text: string): string {
    return styleText(style, text, { stream: process.stdout, validateStream: true });
  }

  /** Writes to the output, no faster than it is read. */
  async write(text: string): Promise<void> {
    if (!process.stdout.write(text)) await once(process.stdout, "drain");
  }

  /** Tells a person something that is no output. */
  note(text: string): void {
    process.stderr.write(`${text}\n`);
  }

  fail(words: string): void {
    const mark = styleText("red", "orcha:", { stream: process.stderr, validateStream: true });
    process.stderr.write(`${mark} ${words}\n`);
  }

  /** For commands that have to clean up; all others just end at Ctrl-C. */
  interrupts(): AbortSignal {
    this.isHeard = true;
    return this.stop.signal;
  }

  /** For a command that lives on after Ctrl-C: it is told each time, until it takes this back. */
  onInterrupt(handler: (exitCode: number) => void): () => void {
    this.handler = handler;
    return () => (this.handler = undefined);
  }

  /** The first time a command may clean up, the second time it's over. */
  interrupt(exitCode: number): void {
    if (this.handler) {
      this.handler(exitCode);
      return;
    }
    if (!this.isHeard || this.stop.signal.aborted) process.exit(exitCode);
    this.stop.abort(new Interrupted(exitCode));
  }
}
