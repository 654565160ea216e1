/** How many names are remembered at once; more only means that some are forgotten sooner. */
const maxNames = 1000;

/** Names that something happened to not long ago. */
export class RecentNames {
  private readonly until = new Map<string, number>();
  private readonly lifetimeMs: number;

  constructor(lifetimeMs: number) {
    this.lifetimeMs = lifetimeMs;
  }

  add(name: string): void {
    this.until.delete(name);
    this.until.set(name, Date.now() + this.lifetimeMs);
    const [oldest] = this.until.keys();
    if (this.until.size > maxNames && oldest !== undefined) this.until.delete(oldest);
  }

  has(name: string): boolean {
    const until = this.until.get(name);
    if (until === undefined) return false;
    if (until > Date.now()) return true;
    this.until.delete(name);
    return false;
  }
}
