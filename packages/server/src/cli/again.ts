import type { TargetFlags } from "./target.ts";

/** A command that goes on where this one ends, with the flags that lead to the same sessions, as a shell takes it. */
export function commandAfter(flags: TargetFlags, ...words: readonly string[]): string {
  const place = (["url", "file", "database", "config", "tenant"] as const).flatMap((name) => {
    const value = flags[name];
    return value === undefined ? [] : [`--${name}`, name === "database" ? withoutPassword(value) : value];
  });
  return ["orcha", ...words, ...place].map(shellWord).join(" ");
}

/** Quotes a word where a shell would read something into it. */
export function shellWord(word: string): string {
  return /^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", String.raw`'\''`)}'`;
}

/** Terminals scroll back, and scripts keep logs. */
function withoutPassword(database: string): string {
  if (!URL.canParse(database)) return database;
  const url = new URL(database);
  if (url.password !== "") url.password = "***";
  return url.href;
}
