/** Lets work of the same name run one after the other, in the order it came. */
export class Turns {
  private readonly last = new Map<string, Promise<unknown>>();

  async run<T>(name: string, work: () => Promise<T>): Promise<T> {
    const before = this.last.get(name);
    const running = before ? before.then(work) : work();
    const settled = running.then(noop, noop);
    this.last.set(name, settled);
    try {
      return await running;
    } finally {
      if (this.last.get(name) === settled) this.last.delete(name);
    }
  }
}

function noop(): void {}
