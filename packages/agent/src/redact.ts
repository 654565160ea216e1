import { cutText } from "@orcha/contract";
import type { ModelSettings } from "./loop-input.ts";

const hidden = "[redacted]";

/** What a key looks like in the messages of providers. Every quantifier is bounded: a message may be anything. */
const patterns: readonly [RegExp, string][] = [
  // Queries carry keys, and so may the part before the host.
  [/\b(https?:\/\/)[^\s/@"'<>]{1,200}@/gi, "$1"],
  [/\b(https?:\/\/[^\s?#"'<>]{1,500})[?#][^\s"'<>]{0,2000}/gi, "$1"],
  [/\b(bearer|basic)\s+[^\s"',;]{4,2000}/gi, `$1 ${hidden}`],
  [/\beyJ[\w-]{4,2000}\.[\w-]{4,2000}(?:\.[\w-]{0,2000})?/g, hidden],
  [/\b(?:(?:sk|pk|rk|key|gsk|xai|hf|ghp|gho|pat)[-_]|AIza|AKIA|ya29)[\w.-]{0,200}[\d*][\w*.-]{5,2000}/g, hidden],
  // "Incorrect API key provided: …", "x-api-key=…", "token …"
  [/\b(api[\s_-]?key|apikey|access[\s_-]?key|token|secret|password|credentials?|authorization)\b([^\n:=]{0,40}[:=]\s{0,3}["']?)(?!\d+\b)[^\s"',;]{4,2000}/gi, `$1$2${hidden}`],
  // "invalid key abc123"
  [/\b(key|token)(\s{1,3}["']?)(?=[\w.-]{0,80}\d)[\w.-]{6,2000}/gi, `$1$2${hidden}`],
  [/\b(?=[\w-]{0,80}[A-Za-z])(?=[\w-]{0,80}\d)[\w-]{40,2000}/g, hidden],
];

/**
 * Takes what looks like a key or a token out of a message, with every `secret` that is known, and cuts it at 1,000
 * characters.
 */
export function redact(message: string, secrets: readonly string[] = []): string {
  let text = message.slice(0, 4000);
  for (const secret of secrets) {
    // Shorter ones are words that a message may well hold.
    if (secret.length >= 8) text = text.replaceAll(secret, hidden);
  }
  for (const [pattern, replacement] of patterns) text = text.replace(pattern, replacement);
  return cutText(text, 1000);
}

/** What the settings hold that nobody is to see: the values of headers, with and without a scheme before them. */
export function secretsOf({ headers = {} }: ModelSettings): string[] {
  return Object.values(headers).flatMap((value) => [value, ...value.split(/\s+/)]);
}
