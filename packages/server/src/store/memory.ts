import type { SessionView } from "@orcha/contract";
import { checkCondition, nextLease } from "./condition.ts";
import { nothingToPublish, ReceiptExists, sessionExists } from "./conflict.ts";
import { compare, matches } from "./memory-list.ts";
import { News } from "./news.ts";
import { pageWindow, pinnedSequence } from "./page.ts";
import { dueAt, parentOf, receiptLifetimeMs } from "./rows.ts";
import { sessionName } from "./session-name.ts";
import { touchedItems } from "./touched.ts";
import { upTo } from "./up-to.ts";
import type {
  Current,
  Draft,
  EventRow,
  Lease,
  Receipt,
  ReceiptKey,
  SessionRef,
  SessionWrite,
  Store,
  VersionRow,
} from "./store.ts";

interface MemorySession {
  ref: SessionRef;
  view: SessionView;
  snapshot: string;
  events: EventRow[];
  /** By position: every version of the item, oldest first. */
  items: VersionRow[][];
  /** By look-up key: the items' positions, oldest first. */
  lookups: Map<string, number[]>;
  receipts: string[];
  lease?: Lease;
  draft?: Draft;
}

/** Keeps sessions in this process, for tests and for apps that need no more. Everything is gone when it ends. */
export function memoryStore(): Store {
  const sessions = new Map<string, MemorySession>();
  const tombstones = new Set<string>();
  const receipts = new Map<string, Receipt>();
  const news = new News();

  function apply(session: MemorySession, write: SessionWrite): void {
    if (write.receipt) keepReceipt(session, write.receipt);
    for (const version of write.versions) addVersion(session, version);
    // One by one: a whole log has more events than a call takes arguments.
    for (const event of write.events) session.events.push(event);
    session.view = write.view;
    session.snapshot = JSON.stringify(write.view.snapshot);
    if (write.lease) session.lease = write.lease;
    if (write.endsDraft) delete session.draft;
  }

  function childrenOf({ ref }: MemorySession): MemorySession[] {
    return [...sessions.values()].filter((session) => {
      const parent = parentOf(session.view.snapshot);
      return session.ref.tenant === ref.tenant && parent?.agent === ref.agent && parent.sessionId === ref.sessionId;
    });
  }

  function remove(session: MemorySession): void {
    const name = sessionName(session.ref);
    for (const receipt of session.receipts) receipts.delete(receipt);
    sessions.delete(name);
    tombstones.add(name);
  }

  function keepReceipt(session: Pick<MemorySession, "ref" | "receipts">, receipt: Receipt): void {
    const name = receiptName(session.ref, receipt);
    if (isKept(receipts.get(name), receipt.createdAt - receiptLifetimeMs)) throw new ReceiptExists();
    receipts.set(name, receipt);
    session.receipts.push(name);
  }

  return {
    async create(ref, write) {
      const name = sessionName(ref);
      if (write.receipt) {
        const since = write.receipt.createdAt - receiptLifetimeMs;
        if (isKept(receipts.get(receiptName(ref, write.receipt)), since)) throw new ReceiptExists();
      }
      if (sessions.has(name) || tombstones.has(name)) throw sessionExists(ref);
      const session: MemorySession = {
        ref,
        view: write.view,
        snapshot: "",
        events: [],
        items: [],
        lookups: new Map(),
        receipts: [],
      };
      apply(session, write);
      sessions.set(name, session);
      news.tell(ref);
    },

    async read(ref, lookups) {
      const session = sessions.get(sessionName(ref));
      return session && currentOf(session, lookups);
    },

    async append(ref, lookups, decide, condition) {
      const session = sessions.get(sessionName(ref));
      if (!session) return undefined;
      const current = currentOf(session, lookups);
      checkCondition(current, condition);
      const { write, result } = decide(current);
      if (write) {
        apply(session, write);
        news.tell(ref);
      }
      return { result };
    },

    async snapshot(ref) {
      return sessions.get(sessionName(ref))?.snapshot;
    },

    async historyPage(ref, query) {
      const session = sessions.get(sessionName(ref));
      if (!session) return undefined;
      const throughSequence = pinnedSequence(session.events.length, query);
      const total = session.events[throughSequence - 1]?.itemCount ?? 0;
      const { start, end } = pageWindow(total, query);
      const bodies = session.items
        .slice(start, end)
        .map((versions) => versions.findLast((version) => version.sequence <= throughSequence)?.body ?? "");
      return { snapshot: session.snapshot, throughSequence, total, start, bodies };
    },

    async eventPage(ref, query) {
      const session = sessions.get(sessionName(ref));
      if (!session) return undefined;
      const throughSequence = pinnedSequence(session.events.length, query);
      const { start, end } = pageWindow(throughSequence, query);
      return {
        snapshot: session.snapshot,
        throughSequence,
        total: throughSequence,
        start,
        bodies: session.events.slice(start, end).map(({ body }) => body),
      };
    },

    async events(ref, from, to, maxBytes) {
      const bodies = sessions.get(sessionName(ref))?.events.slice(from - 1, to).map(({ body }) => body);
      return bodies && upTo(maxBytes, bodies);
    },

    async changed(ref, { after, through, lookups }) {
      const session = sessions.get(sessionName(ref));
      if (!session) return undefined;
      const [first, last] = [after, through].map((sequence) => session.events[sequence - 1]?.itemCount ?? 0);
      const older = lookups.flatMap((lookup) => session.lookups.get(lookup) ?? []).filter((position) => position < (first ?? 0));
      const positions = [...new Set(older)].sort((left, right) => left - right);
      for (let position = first ?? 0; position < (last ?? 0); position += 1) positions.push(position);
      const items = positions.flatMap((position) => {
        const version = session.items[position]?.at(-1);
        return version && version.sequence > after ? [{ position, body: version.body }] : [];
      });
      return { snapshot: session.snapshot, items };
    },

    listen: (onNews) => news.listen(onNews),

    async itemMadeBy(ref, position) {
      return sessions.get(sessionName(ref))?.items[position]?.[0]?.sequence;
    },

    async list(query) {
      return [...sessions.values()]
        .filter((session) => matches(session, query))
        .sort((left, right) => compare(left, right))
        .slice(0, query.limit)
        .map((session) => session.snapshot);
    },

    async delete(ref, _at, condition) {
      const name = sessionName(ref);
      const session = sessions.get(name);
      if (!session) return tombstones.has(name);
      checkCondition(currentOf(session, []), condition);
      for (const family of [session, ...childrenOf(session)]) {
        remove(family);
        news.tell(family.ref);
      }
      return true;
    },

    async publish(moves) {
      const wanted = new Set<string>();
      const found = moves.map(({ from, to }) => {
        const session = sessions.get(sessionName(from));
        const name = sessionName(to);
        if (!session) throw nothingToPublish(from);
        if (sessions.has(name) || tombstones.has(name) || wanted.has(name)) throw sessionExists(to);
        wanted.add(name);
        return session;
      });
      for (const [index, { from, to }] of moves.entries()) {
        const session = found[index];
        sessions.delete(sessionName(from));
        if (!session) continue;
        session.ref = to;
        delete session.lease;
        sessions.set(sessionName(to), session);
      }
    },

    async takeLease(ref, wanted) {
      const session = sessions.get(sessionName(ref));
      if (!session) return undefined;
      session.lease = nextLease(session.lease, wanted);
      return session.lease;
    },

    async releaseLease(ref, fence, left) {
      const session = sessions.get(sessionName(ref));
      if (session?.lease?.fence === fence) session.lease = { ...session.lease, until: left ? 1 : 0 };
    },

    async saveDraft(ref, draft) {
      const session = sessions.get(sessionName(ref));
      if (session?.lease?.fence !== draft.fence) return false;
      session.draft = draft;
      return true;
    },

    async draft(ref) {
      const { draft, lease } = sessions.get(sessionName(ref)) ?? {};
      return draft && draft.fence === lease?.fence ? draft : undefined;
    },

    async due({ what, agents, now, limit }) {
      const found = [...sessions.values()].filter(({ ref, view, lease }) => {
        const at = what === "expired" ? dueAt(view) : lease?.until || undefined;
        return agents.includes(ref.agent) && (at ?? Infinity) <= now;
      });
      return found.slice(0, limit).map(({ ref }) => ref);
    },

    async keepReceipt(ref, receipt) {
      const session = sessions.get(sessionName(ref));
      keepReceipt(session ?? { ref, receipts: [] }, receipt);
    },

    async findReceipt(ref, key, since) {
      const name = receiptName(ref, key);
      const receipt = receipts.get(name);
      if (receipt && receipt.createdAt < since) receipts.delete(name);
      return receipt && receipt.createdAt >= since ? receipt : undefined;
    },

    async close() {
      sessions.clear();
    },
  };
}

function addVersion(session: MemorySession, version: VersionRow): void {
  const versions = session.items[version.position];
  if (versions) {
    versions.push(version);
    return;
  }
  session.items[version.position] = [version];
  for (const lookup of version.lookups) {
    const known = session.lookups.get(lookup);
    if (known) known.push(version.position);
    else session.lookups.set(lookup, [version.position]);
  }
}

function currentOf(session: MemorySession, lookups: readonly string[]): Current {
  const newest = lookups.flatMap((lookup) => session.lookups.get(lookup)?.at(-1) ?? []);
  const positions = [...session.view.open.map(({ position }) => position), ...newest];
  const rows = positions.flatMap((position) => session.items[position]?.at(-1) ?? []);
  const { view, lease } = session;
  return { view, touched: touchedItems(rows), ...(lease ? { lease } : {}) };
}

function isKept(receipt: Receipt | undefined, since: number): boolean {
  return receipt !== undefined && receipt.createdAt >= since;
}

function receiptName(ref: Omit<SessionRef, "sessionId">, { operation, sessionId, key }: ReceiptKey): string {
  return JSON.stringify([ref.tenant, ref.agent, operation, sessionId, key]);
}
