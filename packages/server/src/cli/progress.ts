/** One line on a terminal that says how far long work is; silent everywhere else. */
export class Progress {
  private shownAt = 0;
  private isShown = false;

  show(text: () => string): void {
    if (!process.stderr.isTTY || Date.now() - this.shownAt < 100) return;
    this.shownAt = Date.now();
    this.isShown = true;
    process.stderr.write(`\r\u001b[2K${text()}`);
  }

  clear(): void {
    if (this.isShown) process.stderr.write("\r\u001b[2K");
    this.isShown = false;
  }
}

/** Bytes as a person reads them. */
export function megabytes(bytes: number): string {
  return `${(bytes / 1e6).toFixed(bytes < 1e7 ? 1 : 0)} MB`;
}

export function count(number: number, noun: string): string {
  return `${number.toLocaleString("en-US")} ${noun}${number === 1 ? "" : "s"}`;
}
