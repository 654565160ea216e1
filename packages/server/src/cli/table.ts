import type { Terminal } from "./terminal.ts";
import { cut, plain, widthOf } from "./text.ts";

/** A column: its title, and how its cells are coloured. */
export interface Column {
  title: string;
  style?: (cell: string) => Parameters<Terminal["style"]>[0] | undefined;
}

const gap = "  ";
const narrowest = 8;

/** Lays rows out in columns; the last column gives way where the terminal is narrow, then the widest ones do. */
export function table(terminal: Terminal, columns: readonly Column[], rows: readonly (readonly string[])[]): string {
  // No cell is wider than the terminal, and measuring a text of megabytes takes its time.
  const cells = rows.map((row) => row.map((cell) => cut(plain(cell), terminal.width)));
  const widths = columns.map(({ title }, index) => Math.max(title.length, ...cells.map((row) => widthOf(row[index] ?? ""))));
  fit(widths, terminal.width - gap.length * (columns.length - 1));
  const line = (row: readonly string[], dress: (cell: string, index: number) => string): string =>
    row
      .map((cell, index) => {
        const text = cut(cell, widths[index] ?? 0);
        const padding = index === row.length - 1 ? "" : " ".repeat(Math.max(0, (widths[index] ?? 0) - widthOf(text)));
        return dress(text, index) + padding;
      })
      .join(gap);
  const head = line(
    columns.map(({ title }) => title),
    (text) => terminal.style("dim", text),
  );
  const body = cells.map((row) =>
    line(row, (text, index) => {
      const style = columns[index]?.style?.(row[index] ?? "");
      return style === undefined ? text : terminal.style(style, text);
    }),
  );
  return [head, ...body].map((text) => `${text.trimEnd()}\n`).join("");
}

function fit(widths: number[], room: number): void {
  const total = (): number => widths.reduce((sum, width) => sum + width, 0);
  const last = widths.length - 1;
  const excess = total() - room;
  if (excess > 0) widths[last] = Math.max(narrowest, (widths[last] ?? 0) - excess);
  while (total() > room) {
    const widest = widths.indexOf(Math.max(...widths));
    if ((widths[widest] ?? 0) <= narrowest) return;
    widths[widest] = (widths[widest] ?? 0) - 1;
  }
}

/** The colour of a status, the same everywhere. */
export function statusStyle(status: string): Parameters<Terminal["style"]>[0] | undefined {
  if (/failed|error/.test(status)) return "red";
  if (/waiting|paused/.test(status)) return "yellow";
  if (/running/.test(status)) return "cyan";
  return /completed/.test(status) ? "green" : undefined;
}
