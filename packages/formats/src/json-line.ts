import { findJsonFault, formatPath, isPlainObject } from "@orcha/contract";
import { FormatError } from "./error.ts";
import { outsideStrings } from "./json-text.ts";
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

/** A number that JavaScript doesn't keep as it is written; a cheap look comes first, since hardly any line has one. */
export function roundedNumber(text: string): string | undefined {
  if (!/\d{16}|\d\.\d{8}|\d{8}\.\d/.test(text)) return undefined;
  for (const part of outsideStrings(text)) {
    for (const [token] of part.matchAll(/-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?/g)) {
      if (token.length > 15 && isRounded(token)) return token;
    }
  }
  return undefined;
}

function isRounded(token: string): boolean {
  const kept = Number(token);
  // What JavaScript writes of a large whole number may have other digits than the number itself; both are read as the same.
  if (/^-?\d+$/.test(token) && BigInt(token) === BigInt(kept)) return false;
  return significant(token) !== significant(String(kept));
}

/** The digits and the exponent of a number, the same for all ways to write it: 1.50 and 150e-2 are 15e-1. */
function significant(number: string): string {
  const [, sign = "", whole = "", fraction = "", exponent = "0"] = /^(-?)(\d+)(?:\.(\d+))?(?:e([+-]?\d+))?$/i.exec(number) ?? [];
  const digits = (whole + fraction).replace(/^0+/, "");
  const short = digits.replace(/0+$/, "");
  return short === "" ? "0" : `${sign}${short}e${Number(exponent) - fraction.length + digits.length - short.length}`;
}
