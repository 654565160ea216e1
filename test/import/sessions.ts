import { advance, lookupsOfItem, type SessionEvent } from "@orcha/contract";
import { createSessions, importSessions, type Call, type ImportOptions, type SessionRef, type Store } from "@orcha/server";
import { agents } from "../agents.ts";

/** A caller who may do everything. */
export const admin: Call = { principal: { tenant: "acme", scopes: ["read", "log", "run", "resolve", "write", "admin"] } };

export function refOf(sessionId: string, agent = "supportAgent"): SessionRef {
  return { tenant: "acme", agent, sessionId };
}

/** Puts a whole log into a store in one write, under the name that it gets. */
export async function put(store: Store, ref: SessionRef, log: readonly SessionEvent[]): Promise<void> {
  const { agent, sessionId } = ref;
  const events = log.map((event) => (event.type === "session.created" ? { ...event, data: { ...event.data, agent, sessionId } } : event));
  const { view, versions, itemCounts } = advance(undefined, new Map(), events);
  await store.create(ref, {
    view,
    events: events.map((event, index) => ({ sequence: event.sequence, itemCount: itemCounts[index] ?? 0, body: JSON.stringify(event) })),
    versions: versions.map(({ item, ...version }) => ({
      ...version,
      lookups: version.isNew ? lookupsOfItem(item) : [],
      body: JSON.stringify(item),
    })),
  });
}

/** Everything that a reader can see of a session: all pages of several pinned views, the log, the messages. */
export async function everythingOf(store: Store, { agent, sessionId }: SessionRef) {
  const { reading } = createSessions(agents, store);
  const input = { agent, sessionId };
  const snapshot = await reading.get(admin, input);
  const histories = [];
  for (const throughSequence of new Set([1, Math.ceil(snapshot.sequence / 3), Math.ceil(snapshot.sequence / 2), snapshot.sequence])) {
    for (let page = 1; ; page += 1) {
      const history = await reading.history(admin, { ...input, page, pageSize: 40, throughSequence });
      histories.push(history);
      if (!history.hasMore) break;
    }
  }
  const events = [];
  for (let page = 1; ; page += 1) {
    const read = await reading.events(admin, { ...input, page, pageSize: 100 });
    events.unshift(...read.events);
    if (!read.hasMore) break;
  }
  return { snapshot, histories, events, messages: await reading.messages(admin, input) };
}

export function load(store: Store, text: string | readonly (string | Uint8Array)[], options: ImportOptions = {}) {
  return importSessions({ agents, store }, admin, typeof text === "string" ? [text] : text, options);
}

/** The ids that a caller can list. */
export async function listed(store: Store, agent = "supportAgent"): Promise<string[]> {
  const { items } = await createSessions(agents, store).reading.list(admin, { agent, pageSize: 100 });
  return items.map(({ sessionId }) => sessionId);
}

/** What is left of imports that didn't end well. */
export async function leftovers(store: Store): Promise<number> {
  const tenant = "\u0001import";
  const lists = await Promise.all(["import", "staged"].map((agent) => store.list({ tenant, agent, limit: 100 })));
  return lists.flat().length;
}
