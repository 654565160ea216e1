import { createInterface, type Interface } from "node:readline";
import { Writable } from "node:stream";
import type { Terminal } from "./terminal.ts";

/** Lines that a person types or a pipe holds, one after the other. */
export class LineReader {
  private readonly terminal: Terminal;
  private readonly reader: Interface;
  private readonly lines: string[] = [];
  private hasEnded = false;
  private isMuted = true;
  private wake: () => void = () => {};

  constructor(terminal: Terminal) {
    this.terminal = terminal;
    // What is typed while an answer is written would land in its midst: it shows with the next prompt.
    const output = new Writable({
      write: (chunk: Uint8Array, _encoding, done) => {
        if (!this.isMuted) process.stdout.write(chunk);
        done();
      },
    });
    Object.defineProperty(output, "columns", { get: () => process.stdout.columns });
    this.reader = createInterface({ input: process.stdin, ...(terminal.canAsk ? { output, terminal: true } : { terminal: false }) });
    this.reader.on("line", (line) => {
      this.lines.push(line);
      this.wake();
    });
    this.reader.on("close", () => {
      this.hasEnded = true;
      this.wake();
    });
    // readline takes Ctrl-C for itself.
    this.reader.on("SIGINT", () => process.kill(process.pid, "SIGINT"));
  }

  /**
   * Reads a line; nothing where there are no more, or the signal fires. Where it `isFresh`, what a person typed before the
   * question counts for nothing.
   */
  async read(prompt: string, signal: AbortSignal, { isFresh = false } = {}): Promise<string | undefined> {
    if (isFresh && this.terminal.canAsk) this.lines.length = 0;
    this.isMuted = false;
    if (this.lines.length === 0 && this.terminal.canAsk && !this.hasEnded) {
      this.reader.setPrompt(prompt);
      this.reader.prompt(true);
    }
    const wake = (): void => this.wake();
    signal.addEventListener("abort", wake);
    try {
      while (this.lines.length === 0 && !this.hasEnded && !signal.aborted) await new Promise<void>((resolve) => (this.wake = resolve));
      if (signal.aborted) return undefined;
      return this.lines.shift();
    } finally {
      signal.removeEventListener("abort", wake);
      this.isMuted = true;
    }
  }

  close(): void {
    this.reader.close();
  }
}
