import { checkCondition, nextLease } from "./condition.ts";
import { sessionExists } from "./conflict.ts";
import { pageWindow, pinnedSequence } from "./page.ts";
import { whenFree } from "./sqlite-busy.ts";
import { sqliteLists } from "./sqlite-list.ts";
import { openSqlite, unsynced, type SqliteOptions } from "./sqlite-open.ts";
import type { SessionRow } from "./rows.ts";
import { SqliteNews } from "./sqlite-news.ts";
import { prepareStatements } from "./sqlite-statements.ts";
import { dropSession, readCurrent, renameSession, writeNewSession, writeReceipt, writeSession } from "./sqlite-write.ts";
import type { SessionRef, Store } from "./store.ts";
import { upTo } from "./up-to.ts";

export type { SqliteOptions } from "./sqlite-open.ts";

/**
 * Keeps sessions in one SQLite file, in WAL mode; several processes of one machine may share it. Brings the schema up
 * to date first. Throws `storage_error` for a file that is newer, foreign, or can't be opened.
 */
export async function sqliteStore(options: SqliteOptions): Promise<Store> {
  const database = await openSqlite(options);
  const statements = prepareStatements(database);
  const lists = sqliteLists(database);
  const news = new SqliteNews(database);

  /** Says that a session changed, once it has. */
  async function telling<T>(ref: SessionRef, write: Promise<T>): Promise<T> {
    const written = await write;
    news.tell(ref);
    return written;
  }

  /** Everything in `run` is synchronous, so that no other request of this process comes between. */
  function transaction<T>(run: () => T): Promise<T> {
    return whenFree(() => commit(run));
  }

  /** A write that a power cut may take back, so that nobody waits for the disk: it comes there with the next one. */
  function unsyncedTransaction<T>(run: () => T): Promise<T> {
    return whenFree(() => unsynced(database, options, () => commit(run)));
  }

  function commit<T>(run: () => T): T {
    statements.begin.run();
    try {
      const result = run();
      statements.commit.run();
      return result;
    } catch (error) {
      if (database.inTransaction) statements.rollback.run();
      throw error;
    }
  }

  function find({ tenant, agent, sessionId }: SessionRef): SessionRow | undefined {
    return statements.findSession.get(tenant, agent, sessionId);
  }

  function read({ tenant, agent, sessionId }: SessionRef) {
    return statements.readSession.get(tenant, agent, sessionId);
  }

  /** What several statements read, or nothing where another process removed the session between two of them. */
  function unlessGone<T>(ref: SessionRef, isWhole: boolean, found: T): T | undefined {
    return isWhole || read(ref) ? found : undefined;
  }

  return {
    create: (ref, write) =>
      telling(
        ref,
        transaction(() => {
          if (find(ref) || statements.findTombstone.get(ref.tenant, ref.agent, ref.sessionId)) throw sessionExists(ref);
          writeNewSession(statements, ref, write);
        }),
      ),

    read: (ref, lookups) =>
      whenFree(() => {
        const row = find(ref);
        return row && readCurrent(statements, row, lookups);
      }),

    append: (ref, lookups, decide, condition) =>
      telling(
        ref,
        transaction(() => {
          const row = find(ref);
          if (!row) return undefined;
          const current = readCurrent(statements, row, lookups);
          checkCondition(current, condition);
          const { write, result } = decide(current);
          if (write) writeSession(statements, row, ref, current.view.snapshot, write);
          return { result };
        }),
      ),

    snapshot: (ref) => whenFree(() => read(ref)?.[3]),

    historyPage: (ref, query) =>
      whenFree(() => {
        const row = read(ref);
        if (!row) return undefined;
        const [key, sequence, itemCount, snapshot] = row;
        const throughSequence = pinnedSequence(sequence, query);
        const isNewest = throughSequence === sequence;
        const total = isNewest ? itemCount : (statements.itemCountAt.get(key, throughSequence) ?? 0);
        const { start, end } = pageWindow(total, query);
        const bodies = isNewest ? statements.itemPage.all(key, start, key, end, throughSequence) : [];
        if (bodies.length === end - start) return { snapshot, throughSequence, total, start, bodies };
        // An older view, or another process wrote between the two statements: items may have to be shown as they were.
        const past = statements.pastItemPage.all(throughSequence, throughSequence, key, start, key, end);
        return unlessGone(ref, past.length === end - start, { snapshot, throughSequence, total, start, bodies: past });
      }),

    eventPage: (ref, query) =>
      whenFree(() => {
        const row = read(ref);
        if (!row) return undefined;
        const [key, sequence, , snapshot] = row;
        const throughSequence = pinnedSequence(sequence, query);
        const { start, end } = pageWindow(throughSequence, query);
        const bodies = statements.eventRange.all(key, start + 1, key, end);
        return unlessGone(ref, bodies.length === end - start, { snapshot, throughSequence, total: throughSequence, start, bodies });
      }),

    events: (ref, from, to, maxBytes) =>
      whenFree(() => {
        const row = read(ref);
        if (!row) return undefined;
        const [key, sequence] = row;
        // Row by row where there may be too much of it: what lies behind the last one isn't even read.
        const isBounded = maxBytes !== undefined;
        const bodies = isBounded ? upTo(maxBytes, statements.eventRange.iterate(key, from, key, to)) : statements.eventRange.all(key, from, key, to);
        const isWhole = bodies.length === Math.max(0, Math.min(to, sequence) - from + 1);
        // One statement sees all of the events or none.
        return unlessGone(ref, isWhole || (isBounded && bodies.length > 0), bodies);
      }),

    changed: (ref, { after, through, lookups }) =>
      whenFree(() => {
        const row = read(ref);
        if (!row) return undefined;
        const [key, , , snapshot] = row;
        const [first, last] = [after, through].map((sequence) => statements.itemCountAt.get(key, sequence) ?? 0);
        const older = lookups.length === 0 ? [] : statements.changedOlder.all(key, JSON.stringify(lookups), first ?? 0, after);
        const items = [...older, ...statements.changedItems.all(key, first ?? 0, key, last ?? 0)];
        return unlessGone(ref, false, { snapshot, items });
      }),

    listen: (onNews) => news.listen(onNews),

    itemMadeBy: (ref, position) =>
      whenFree(() => {
        const key = read(ref)?.[0];
        return key === undefined ? undefined : statements.itemMadeBy.get(key, position, key, position);
      }),

    list: (query) => whenFree(() => lists.read(query)),

    delete: (ref, at, condition) =>
      telling(
        ref,
        transaction(() => {
          const row = find(ref);
          if (!row) return statements.findTombstone.get(ref.tenant, ref.agent, ref.sessionId) !== undefined;
          checkCondition(readCurrent(statements, row, []), condition);
          dropSession(statements, row, ref, at);
          return true;
        }),
      ),

    publish: (moves) =>
      transaction(() => {
        for (const move of moves) renameSession(statements, find(move.from), move);
      }),

    takeLease: (ref, wanted) =>
      transaction(() => {
        const row = find(ref);
        if (!row) return undefined;
        const lease = nextLease(readCurrent(statements, row, []).lease, wanted);
        statements.moveLease.run(lease.owner, lease.until, lease.fence, row.key);
        return lease;
      }),

    releaseLease: (ref, fence, left) =>
      transaction(() => {
        const row = find(ref);
        if (row) statements.endLease.run(left ? 1 : 0, row.key, fence);
      }),

    saveDraft: (ref, { fence, body }) =>
      // A power cut ends the run that it belongs to.
      unsyncedTransaction(() => {
        const row = find(ref);
        if (row?.lease_fence !== fence) return false;
        statements.saveDraft.run(row.key, fence, body);
        return true;
      }),

    draft: (ref) =>
      whenFree(() => {
        const key = read(ref)?.[0];
        return key === undefined ? undefined : statements.readDraft.get(key);
      }),

    due: ({ what, agents, now, limit }) =>
      whenFree(() =>
        statements[what]
          .all({ agents: JSON.stringify(agents), now, limit })
          .map(({ tenant, agent, id }): SessionRef => ({ tenant, agent, sessionId: id })),
      ),

    keepReceipt: (ref, receipt) => transaction(() => writeReceipt(statements, find(ref)?.key ?? 0, ref, receipt)),

    findReceipt: ({ tenant, agent }, key, since) =>
      whenFree(() => {
        const row = statements.findReceipt.get(tenant, agent, key.operation, key.sessionId, key.key);
        if (!row || row.created_at < since) return undefined;
        return { ...key, digest: row.digest, outcome: row.outcome, createdAt: row.created_at };
      }),

    async close() {
      news.stop();
      database.close();
    },
  };
}
