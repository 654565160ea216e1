import { lookupKey, type StoredSnapshot, type SubagentItem } from "@orcha/contract";
import type { SubagentEnd } from "@orcha/agent/loop";
import { writeOf, type NewEvent } from "../batch.ts";
import type { OnError } from "../failure.ts";
import { parentOf } from "../store/rows.ts";
import type { Current, SessionRef, Store } from "../store/store.ts";
import type { Surroundings } from "../surroundings.ts";
import { backwards, readRunState } from "./outcome.ts";
import { subagentEndOf } from "./subagent-end.ts";

interface Parts {
  store: Store;
  surroundings: Surroundings;
  onError: OnError;
}

/*
 *   child ends, or waits ──┬── its parent's run follows it ──▶ that run logs the end
 *                          └── nobody does, and its item waits or rests ──▶ logged here
 */

/**
 * Tells a parent's log how a child is that somebody went on with in the child's own session. The parent's model keeps
 * what it was told: only the history shows it.
 */
export class Reporting {
  private readonly parts: Parts;

  constructor(parts: Parts) {
    this.parts = parts;
  }

  /** Tells the parent of a session how it is; nothing where the session wasn't delegated. Never rejects. */
  async tell(ref: SessionRef, snapshot: StoredSnapshot): Promise<void> {
    const parent = parentOf(snapshot);
    if (parent) await this.report({ ...parent, tenant: ref.tenant }, ref);
  }

  /** Brings a parent's log up to how a child of it is that its own runs don't follow. Never rejects. */
  async report(parent: SessionRef, child: SessionRef): Promise<void> {
    const { store, surroundings, onError } = this.parts;
    const lookups = [lookupKey("subagent", child.sessionId)];
    try {
      const before = await store.read(parent, lookups);
      if (!before || !leftItem(before, child)) return;
      const end = await this.endOf(child);
      if (!end) return;
      await store.append(parent, lookups, (current) => {
        const item = leftItem(current, child);
        if (!item || item.status === statusOf(end)) return { result: false };
        const { callId, name } = item;
        const data = { callId, agent: name, sessionId: child.sessionId, ...end.data };
        const event: NewEvent = { type: `subagent.${end.type}`, data };
        return { write: writeOf([event], current, { now: surroundings.now() }), result: true };
      });
    } catch (error) {
      onError(error, { operation: "telling of a subagent", sessionId: parent.sessionId });
    }
  }

  /** How the last run of a child ended; nothing while it works. */
  private async endOf(child: SessionRef): Promise<SubagentEnd | undefined> {
    const { store } = this.parts;
    const current = await store.read(child, []);
    if (!current) return gone;
    for await (const { run } of backwards(store, child, current.view.snapshot.sequence)) {
      if (run === undefined) continue;
      const state = await readRunState(store, child, run);
      return state?.at === "end" ? subagentEndOf(state.result) : undefined;
    }
    return undefined;
  }
}

const gone: SubagentEnd = {
  type: "failed",
  data: { status: "failed", error: { code: "session_not_found", message: "the session was deleted" } },
};

/** The item of a child that is unfinished, and that no run of its parent follows; nothing where the parent is over. */
function leftItem({ view, touched }: Current, child: SessionRef): SubagentItem | undefined {
  const item = touched.get(lookupKey("subagent", child.sessionId))?.at(-1)?.item;
  if (item?.type !== "subagent" || view.snapshot.status === "completed") return undefined;
  return item.status === "waiting" || item.status === "paused" ? item : undefined;
}

function statusOf({ type, data }: SubagentEnd): SubagentItem["status"] {
  if (type !== "paused") return type;
  return data.status === "waiting_for_client_action" ? "waiting" : "paused";
}
