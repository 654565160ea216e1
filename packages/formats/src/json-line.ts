import { findJsonFault, formatPath, isPlainObject } from "@orcha/contract";
import { FormatError } from "./error.ts";
import type { Line } from "./lines.ts";

/** A line's JSON object, or why it is none. */
export type ParsedLine = { value: Record<string, unknown> } | { reason: string };

/** Parses a line without judging what the object says. */
export function parseLine({ text }: Line): ParsedLine {
  if (text === undefined) return { reason: "is not UTF-8" };
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return { reason: text.includes("\0") ? "holds NUL bytes instead of JSON" : "is not JSON" };
  }
  return isPlainObject(value) ? { value } : { reason: "is not a JSON object" };
}

/** Throws `FormatError` for what JSON can spell and no store can keep, such as 1e400 or a hundred levels. */
export function checkStorable(value: unknown, line: number): void {
  const fault = findJsonFault(value);
  if (!fault) return;
  const at = formatPath(fault.path);
  throw new FormatError(line, at === "" ? fault.reason : `${at} ${fault.reason}`);
}

/** Tells whether nothing but white space stands on a line. */
export function isBlank({ text }: Line): boolean {
  return text !== undefined && text.trim() === "";
}

/** Numbers of more digits than JavaScript holds; a cheap look comes first, since hardly any line has one. */
export function roundedNumber(text: string): string | undefined {
  if (!/\d{16}/.test(text)) return undefined;
  for (const match of text.matchAll(/"(?:[^"\\]|\\.)*"|-?\d{16,}(?![\d.eE])/g)) {
    const [token] = match;
    if (!token.startsWith('"') && BigInt(token) !== BigInt(Number(token))) return token;
  }
  return undefined;
}
