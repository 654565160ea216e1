import { isPlainObject } from "@orcha/contract";

/**
 * Replaces half characters by U+FFFD, since no provider takes them. A regular expression does it where
 * `String.prototype.toWellFormed` is missing, as on some phones.
 */
export function wellFormed(text: string): string {
  return text.replace(/\p{Surrogate}/gu, "\uFFFD");
}

/** The same for every text in a JSON value, keys included. */
export function wellFormedJson(value: unknown): unknown {
  if (typeof value === "string") return wellFormed(value);
  if (Array.isArray(value)) return value.map(wellFormedJson);
  if (!isPlainObject(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([key, child]) => [wellFormed(key), wellFormedJson(child)]));
}
