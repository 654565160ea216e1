const accepted = /^[A-Za-z0-9_-]{1,64}$/;

/** Names of calls and tools that every provider takes: 1 to 64 letters, digits, `_` and `-`, each one once. */
export class WireNames {
  private readonly taken = new Set<string>();
  /** The last number that each base was given, so that a name used a thousand times costs no search. */
  private readonly numbers = new Map<string, number>();

  /** Keeps names from being given to anything else. */
  reserve(name: string): void {
    this.taken.add(name);
  }

  /** Gives a name that nothing has yet: the wanted one where that may be. */
  fresh(wanted: string, fallback: string): string {
    const base = accepted.test(wanted) ? wanted : wanted.replace(/[^A-Za-z0-9_-]/g, "_").slice(0, 64) || fallback;
    let name = base;
    while (this.taken.has(name)) {
      const number = (this.numbers.get(base) ?? 1) + 1;
      this.numbers.set(base, number);
      const suffix = `_${number}`;
      name = `${base.slice(0, 64 - suffix.length)}${suffix}`;
    }
    this.taken.add(name);
    return name;
  }
}

/** The wire names of tools: one for each name of the log, and a name that needs no change is never given to another. */
export class ToolNames {
  private readonly names = new WireNames();
  private readonly known = new Map<string, string>();

  constructor(all: Iterable<string>) {
    for (const name of all) {
      if (!accepted.test(name)) continue;
      this.names.reserve(name);
      this.known.set(name, name);
    }
  }

  of(name: string): string {
    const known = this.known.get(name);
    if (known !== undefined) return known;
    const fresh = this.names.fresh(name, "tool");
    this.known.set(name, fresh);
    return fresh;
  }
}
