/** Lays rows out in columns: the first one to the left, the others to the right. */
export function layOut(header: readonly string[], rows: readonly (readonly string[])[]): string {
  const all = [header, ...rows];
  const widths = header.map((_, column) => Math.max(...all.map((row) => row[column]?.length ?? 0)));
  const lines = all.map((row) =>
    widths.map((width, column) => (column === 0 ? (row[column] ?? "").padEnd(width) : (row[column] ?? "").padStart(width))),
  );
  const rule = widths.map((width) => "-".repeat(width));
  return [lines[0] ?? [], rule, ...lines.slice(1)].map((cells) => cells.join("  ").trimEnd()).join("\n");
}
