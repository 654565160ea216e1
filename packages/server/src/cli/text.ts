/** Wide in a terminal: East Asian scripts, full-width forms, and pictures. */
const wide = /[\u1100-\u115f\u2e80-\u303e\u3041-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60\uffe0-\uffe6]|\p{Emoji_Presentation}|[\u{20000}-\u{3fffd}]/u;
const segmenter = new Intl.Segmenter();

/**
 * Makes stored text safe to print on one line: no control characters, which could move the cursor or colour the screen,
 * and none that turn the direction of what follows.
 */
export function plain(text: string): string {
  return text
    .toWellFormed()
    .replaceAll(/\s+/gu, " ")
    .replaceAll(/[\p{Cc}\u200e\u200f\u202a-\u202e\u2066-\u2069]/gu, "\ufffd");
}

/** How many columns a text takes. */
export function widthOf(text: string): number {
  let width = 0;
  for (const { segment } of segmenter.segment(text)) width += wide.test(segment) ? 2 : 1;
  return width;
}

/** Cuts a text to a number of columns, with … where something is missing. */
export function cut(text: string, columns: number): string {
  // Most of a long text is never looked at.
  const start = text.slice(0, columns * 16);
  if (start.length === text.length && widthOf(text) <= columns) return text;
  let kept = "";
  let width = 0;
  for (const { segment } of segmenter.segment(start)) {
    width += wide.test(segment) ? 2 : 1;
    if (width > columns - 1) break;
    kept += segment;
  }
  return `${kept}…`;
}

/** An ISO time as a person reads it, to the second. */
export function time(iso: string): string {
  return plain(iso).replace("T", " ").replace(/(\.\d+)?Z$/, "");
}

/**
 * Makes text of any length safe to print as it is: line breaks and tabs stay, other control characters don't. The
 * printable form of a text's beginning is the beginning of its printable form, so that an answer can be shown as it grows.
 */
export function printable(text: string): string {
  return text
    .replace(/[\ud800-\udbff\r]$/, "")
    .toWellFormed()
    .replaceAll(/\r\n?/g, "\n")
    .replaceAll(/(?![\n\t])[\p{Cc}\u200e\u200f\u202a-\u202e\u2066-\u2069]/gu, "\ufffd");
}
