import { Appends } from "./postgres-append.ts";
import type { PostgresOptions } from "./postgres-connections.ts";
import { createSession } from "./postgres-create.ts";
import { deleteSession } from "./postgres-delete.ts";
import { takeLease } from "./postgres-lease.ts";
import { listSnapshots } from "./postgres-list.ts";
import { openPostgres } from "./postgres-open.ts";
import { publishSessions } from "./postgres-publish.ts";
import { readChanged, readEventPage, readEvents, readHistoryPage } from "./postgres-read.ts";
import { findReceipt, keepReceipt } from "./postgres-receipts.ts";
import { PostgresNews } from "./postgres-news.ts";
import { nameOf } from "./postgres-rows.ts";
import type { SessionRef, Store } from "./store.ts";

export type { PostgresAddress, PostgresOptions } from "./postgres-connections.ts";

/**
 * Keeps sessions in a Postgres schema that any number of servers may share. Brings the schema up to date first. Throws
 * `storage_error` where the database can't be reached, or holds a newer or a foreign schema.
 */
export async function postgresStore(options: PostgresOptions = {}): Promise<Store> {
  const parts = await openPostgres(options);
  const { connections, statements } = parts;
  const appends = new Appends(parts);
  const news = new PostgresNews(options);

  return {
    async create(ref, write) {
      await createSession(parts, ref, write);
      news.tell(ref);
    },
    read: (ref, lookups) => appends.read(ref, lookups),
    async append(ref, lookups, decide, condition) {
      const done = await appends.append(ref, lookups, decide, condition);
      if (done) news.tell(ref);
      return done;
    },

    async snapshot(ref) {
      const [row] = await connections.query(statements.snapshot, nameOf(ref));
      return row?.snapshot;
    },

    historyPage: (ref, query) => readHistoryPage(parts, ref, query),
    eventPage: (ref, query) => readEventPage(parts, ref, query),
    events: (ref, from, to, maxBytes) => readEvents(parts, ref, { from, to, maxBytes }),

    changed: (ref, query) => readChanged(parts, ref, query),
    listen: (onNews) => news.listen(onNews),

    async itemMadeBy(ref, position) {
      const [row] = await connections.query(statements.itemMadeBy, [...nameOf(ref), position]);
      return row?.sequence ?? undefined;
    },

    list: (query) => listSnapshots(parts, query),

    async delete(ref, at, condition) {
      const found = await deleteSession(parts, ref, at, condition);
      appends.drop(ref);
      news.tell(ref);
      return found;
    },

    async publish(moves) {
      await publishSessions(parts, moves);
      for (const { from } of moves) appends.drop(from);
    },

    async takeLease(ref, wanted) {
      const lease = await takeLease(parts, ref, wanted);
      if (lease) appends.leased(ref, lease);
      return lease;
    },

    async releaseLease(ref, fence, left) {
      const until = left ? 1 : 0;
      await connections.query(statements.endLease, [...nameOf(ref), fence, until]);
      appends.released(ref, fence, until);
    },

    async saveDraft(ref, { fence, body }) {
      const saved = await connections.query(statements.saveDraft, [...nameOf(ref), fence, body]);
      return saved.length > 0;
    },

    async draft(ref) {
      const [row] = await connections.query(statements.draft, nameOf(ref));
      return row;
    },

    async due({ what, agents, now, limit }) {
      const rows = await connections.query(statements[what], [agents, now, limit]);
      return rows.map(({ tenant, agent, id }): SessionRef => ({ tenant, agent, sessionId: id }));
    },

    keepReceipt: (ref, receipt) => keepReceipt(parts, ref, receipt),
    findReceipt: (ref, key, since) => findReceipt(parts, ref, key, since),
    async close() {
      await news.close();
      await connections.close();
    },
  };
}
