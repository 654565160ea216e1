import { createHash } from "node:crypto";

/** Longer texts would not fit an index beside the others of its row. */
const maxLength = 255;

/**
 * A text as an indexed column holds it. What Postgres can't keep (NUL, lone surrogates) and what is too long for an
 * index is kept as its SHA-256, so that distinct texts stay distinct.
 */
export function indexed(text: string): string {
  if (text.length <= maxLength && text.isWellFormed() && !text.includes("\0") && !text.startsWith("#")) return text;
  return `#${createHash("sha256").update(JSON.stringify(text)).digest("hex")}`;
}
