import { runLoop, type LoopEnd, type LoopInput } from "@orcha/agent/loop";
import { OrchaError, type EventInput, type EvaluationOutcome, type RunResult, type Usage } from "@orcha/contract";
import { completeBatch, lookupsOfBatch, writeOf, type NewEvent } from "../batch.ts";
import type { OnError } from "../failure.ts";
import type { Current, Decision, Lease, SessionRef, SessionWrite, Store } from "../store/store.ts";
import type { Surroundings } from "../surroundings.ts";
import { sleep } from "../store/wait.ts";
import { DraftKeeper } from "./draft.ts";
import { LeaseKeeper } from "./lease-keeper.ts";
import type { LiveRun } from "./live-run.ts";

/*
 *   lease held ──▶ loop's step ──▶ appended under the fence ──▶ told to listeners ──▶ next step … ──▶ end: lease let go
 *                       │                  │
 *                       │                  └── fence is another's, session gone ──▶ lost: nothing more is written
 *                       └── store away ──▶ tried again while the lease lasts, unless the log turns out to have it; then
 *                                          lost: recovery goes on from the log
 */

/** What a run needs to be driven. */
export interface Drive {
  ref: SessionRef;
  live: LiveRun;
  lease: Lease;
  input: Omit<LoopInput, "signal" | "now">;
  /** Events that a completed run's last write adds, such as the requests of its evaluations. */
  onCompleted: () => readonly NewEvent[];
  /** Starts when the run has completed. */
  evaluate: () => Promise<readonly EvaluationOutcome[]>;
  /** Called when the log has the run's end or its pause. */
  onEnded: () => Promise<void>;
  /** Called when the log says that a child rests: the run doesn't follow it any more. */
  onChildLeft: (child: SessionRef) => Promise<void>;
}

/** Another process has the run, or nobody can have it any more. */
class Lost extends Error {}

/** Drives a run to its end, its pause, or its loss. Never rejects. */
export class Driver {
  private readonly store: Store;
  private readonly surroundings: Surroundings;
  private readonly leaseMs: number;
  private readonly onError: OnError;

  constructor(store: Store, surroundings: Surroundings, leaseMs: number, onError: OnError) {
    this.onError = onError;
    this.store = store;
    this.leaseMs = leaseMs;
    this.surroundings = surroundings;
  }

  async drive({ ref, live, lease, input, onCompleted, evaluate, onEnded, onChildLeft }: Drive): Promise<void> {
    const lose = (): void => live.interrupt("lost");
    const keeper = new LeaseKeeper(this.store, ref, lease, this.leaseMs, this.surroundings, lose);
    const drafts = new DraftKeeper(this.store, ref, keeper.fence, lose);
    let end: LoopEnd = { status: "lost" };
    try {
      const loop = runLoop({ ...input, signal: live.signal, now: () => this.surroundings.now() });
      for (;;) {
        const step = await loop.next();
        if (step.done) {
          end = step.value;
          break;
        }
        if (step.value.type === "text") {
          const { round, text } = step.value;
          live.show({ status: "streaming", sessionId: ref.sessionId, run: live.number, round, output: text });
          drafts.write({ run: live.number, round, text });
          continue;
        }
        const { events } = step.value;
        const isSaid = events.some(({ type }) => type === "message.created");
        if (isSaid) live.hide();
        const endsDraft = isSaid && (await drafts.end());
        await this.append(ref, live, keeper, events, { onCompleted, endsDraft });
        this.tell(ref, live, events);
        for (const { type, data } of events) {
          if (type === "subagent.paused") await onChildLeft({ ...ref, agent: data.agent, sessionId: data.sessionId });
        }
      }
    } catch (error) {
      // Whatever it was, the run goes on from its log when the lease has run out.
      if (!(error instanceof Lost)) this.onError(error, { operation: "run", sessionId: ref.sessionId });
    } finally {
      keeper.stop();
      await drafts.close(live.isHandedOver);
      if (live.isHandedOver) await this.store.releaseLease(ref, keeper.fence, "for others").catch(() => {});
      if (end.status !== "lost") await onEnded();
      const completed = end.status === "completed";
      live.end(resultOf(ref, live.number, end), completed ? evaluate() : Promise.resolve([]));
    }
  }

  /** Appends a step's events under the run's fence. A step that ends the run or lets it wait lets go of the lease, too. */
  private async append(
    ref: SessionRef,
    live: LiveRun,
    keeper: LeaseKeeper,
    events: readonly EventInput[],
    { onCompleted, endsDraft }: Pick<Drive, "onCompleted"> & Pick<SessionWrite, "endsDraft">,
  ): Promise<void> {
    const inputs = events.map((event): EventInput => (isOfSession(event) ? event : { ...event, run: live.number }));
    const following = events.flatMap((event): NewEvent[] => {
      if (event.type === "run.completed") return onCompleted().map((added) => ({ ...added, run: live.number }));
      const isPause = event.type === "run.paused" && event.data.status === "paused";
      return isPause ? [{ type: "session.paused", data: { status: "paused" } }] : [];
    });
    const isLast = events.some(({ type }) => lastTypes.has(type));
    const now = this.surroundings.now();
    let tried: SessionWrite | undefined;
    let known: number | undefined;
    const decide = (current: Current): Decision<boolean> => {
      // Somebody wrote since the log was looked at: maybe an earlier try of this very write.
      if (known !== undefined && known !== current.view.snapshot.sequence) return { result: false };
      const batch = [...completeBatch(inputs, current.view), ...following];
      const write = writeOf(batch, current, { now });
      tried = { ...write, ...(isLast ? { lease: keeper.ended() } : {}), ...(endsDraft ? { endsDraft } : {}) };
      return { write: tried, result: true };
    };
    const done = await this.persist(live, keeper, async () => {
      for (;;) {
        if (tried) {
          const found = await this.look(ref, tried);
          if (found === undefined || found.isWritten) return found;
          known = found.sequence;
        }
        const appended = await this.store.append(ref, lookupsOfBatch(inputs), decide, { fence: keeper.fence });
        if (appended?.result !== false) return appended;
      }
    });
    if (!done) throw new Lost();
  }

  /** Tells whether a write whose answer was lost is in the log, and up to where that was looked for. */
  private async look(ref: SessionRef, { events }: SessionWrite): Promise<{ isWritten: boolean; sequence: number } | undefined> {
    const current = await this.store.read(ref, []);
    const from = events[0]?.sequence ?? 1;
    const bodies = current && (await this.store.events(ref, from, from + events.length - 1));
    if (!bodies) return undefined;
    return { isWritten: events.every(({ body }, index) => bodies[index] === body), sequence: current.view.snapshot.sequence };
  }

  /** Tries again while the store is away and the lease lasts. */
  private async persist<T>(live: LiveRun, keeper: LeaseKeeper, write: () => Promise<T>): Promise<T> {
    for (let tries = 0; ; tries += 1) {
      try {
        return await write();
      } catch (error) {
        if (!(error instanceof OrchaError)) throw error;
        if (error.code === "session_busy" && tries > 2) throw new Lost();
        if (live.signal.reason === "lost" || !error.retryable || tries >= 40) throw error;
        await sleep(Math.min(500, 10 * 2 ** tries));
      }
    }
  }

  private tell(ref: SessionRef, live: LiveRun, events: readonly EventInput[]): void {
    for (const event of events) {
      if (event.type !== "subagent.initiated" && event.type !== "subagent.resumed") continue;
      const { callId, agent, sessionId } = event.data;
      live.show({
        status: "waiting_for_subagent",
        sessionId: ref.sessionId,
        run: live.number,
        callId,
        childAgent: agent,
        childSessionId: sessionId,
      });
    }
  }
}

/** Runs end with these, or wait. */
const lastTypes: ReadonlySet<string> = new Set(["run.completed", "run.failed", "run.stopped", "run.paused"]);

/** A loaded skill stays with the session, whichever run loaded it. */
function isOfSession({ type }: EventInput): boolean {
  return type === "skill.loaded";
}

function resultOf({ sessionId }: SessionRef, run: number, end: LoopEnd): RunResult | undefined {
  if (end.status === "lost") return undefined;
  const base = { sessionId, run, ...usageOf(end) };
  switch (end.status) {
    case "completed":
      return { ...base, status: "completed", output: end.output };
    case "waiting_for_client_action": {
      const pendingClientActions = end.calls.map((call) => ({ ...call, arguments: call.arguments ?? {} }));
      return { ...base, status: "waiting_for_client_action", pendingClientActions };
    }
    case "failed":
      return { ...base, status: "failed", error: end.error };
    default:
      return { ...base, status: end.status, ...(end.output === undefined ? {} : { output: end.output }) };
  }
}

function usageOf({ usage }: { usage?: Usage }): { usage?: Usage } {
  return usage ? { usage } : {};
}
