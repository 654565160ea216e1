/** What a ledger must know of a call. */
export interface LedgerCall {
  /** Client actions wait for a person, whatever is said meanwhile. */
  kind?: "action" | "client_action";
}

interface CallsOfId<C> {
  /** Those whose result may come, oldest first. */
  waiting: C[];
  newest: C;
  newestAnswered: boolean;
}

/**
 * Pairs the calls of a conversation with their results, by the rule of the log: a result belongs to the nearest waiting
 * call of its id, else to the newest one if the conversation went on without it.
 */
export class CallLedger<C extends LedgerCall> {
  private readonly calls = new Map<string, CallsOfId<C>>();
  /** Ids that may have waiting calls, so that going on costs what waits and not what ever was. */
  private readonly waitingIds = new Set<string>();

  has(id: string): boolean {
    return this.calls.has(id);
  }

  /** Takes in a call of before, oldest first for each id. */
  remember(id: string, call: C, state: "waiting" | "missing" | "answered"): void {
    const ofId = this.calls.get(id) ?? { waiting: [], newest: call, newestAnswered: false };
    ofId.newest = call;
    ofId.newestAnswered = state === "answered";
    if (state === "waiting") {
      ofId.waiting.push(call);
      this.waitingIds.add(id);
    }
    this.calls.set(id, ofId);
  }

  request(id: string, call: C): void {
    this.remember(id, call, "waiting");
  }

  /** Finds the call that a result belongs to, and takes it as answered; nothing where each has its result. */
  answer(id: string): C | undefined {
    const ofId = this.calls.get(id);
    if (!ofId) return undefined;
    const call = ofId.waiting.pop() ?? (ofId.newestAnswered ? undefined : ofId.newest);
    if (call === ofId.newest) ofId.newestAnswered = true;
    return call;
  }

  newest(id: string): C | undefined {
    return this.calls.get(id)?.newest;
  }

  /** The conversation goes on: actions that wait are let go of. Answers them, oldest first for each id. */
  goOn(): { id: string; call: C }[] {
    const left: { id: string; call: C }[] = [];
    for (const id of this.waitingIds) {
      const ofId = this.calls.get(id);
      if (!ofId) continue;
      for (const call of ofId.waiting) if (call.kind !== "client_action") left.push({ id, call });
      ofId.waiting = ofId.waiting.filter((call) => call.kind === "client_action");
      if (ofId.waiting.length === 0) this.waitingIds.delete(id);
    }
    return left;
  }
}
