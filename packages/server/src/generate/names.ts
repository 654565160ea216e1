/** Gives out names of types, each only once. */
export class Names {
  private readonly taken: Set<string>;

  constructor(taken: readonly string[]) {
    this.taken = new Set(taken);
  }

  /** A name made of words, with a number behind it where it is taken. */
  take(...words: readonly string[]): string {
    const name = pascal(words);
    for (let number = 1; ; number += 1) {
      const free = number === 1 ? name : `${name}${number}`;
      if (this.taken.has(free)) continue;
      this.taken.add(free);
      return free;
    }
  }
}

/** `support_agent`, `lookup order` → `SupportAgentLookupOrder`. */
function pascal(words: readonly string[]): string {
  const parts = words.flatMap((word) => word.match(/[\p{L}\p{Nd}]+/gu) ?? []);
  const name = parts.map((part) => part.replace(/^./u, (first) => first.toUpperCase())).join("");
  // A letter may become two, and none may be left: ß, 東.
  return /^\p{L}/u.test(name) ? name : `Type${name}`;
}
