import type { AgentDefinition, SessionEvents, SessionHistory } from "@orcha/contract";
import type { AgentClient, PageOptions } from "./agent-client.ts";
import type { Connection } from "./connection.ts";
import { createExecution } from "./execution.ts";
import { method } from "./method.ts";
import { createPages } from "./pages.ts";
import { markUnknownEvent, markUnknownItem } from "./unknown.ts";
import { verifyArguments } from "./verify.ts";

/** Builds the client of one agent; its definition, where the app gave it, verifies arguments. */
export function connectAgent(connection: Connection, agent: string, definition?: AgentDefinition): AgentClient {
  const { rpc, read, write } = connection;

  async function history(sessionId: string, { signal, ...page }: PageOptions = {}): Promise<SessionHistory> {
    const answer = await read(rpc.history, { ...page, agent, sessionId }, { signal });
    const items = answer.items.map(markUnknownItem);
    return { ...answer, items: definition ? await Promise.all(items.map((item) => verifyArguments(item, definition))) : items };
  }

  async function events(sessionId: string, { signal, ...page }: PageOptions = {}): Promise<SessionEvents> {
    const answer = await read(rpc.events, { ...page, agent, sessionId }, { signal });
    return { ...answer, events: answer.events.map(markUnknownEvent) };
  }

  const safeHistory = method(history);
  return Object.freeze<AgentClient>({
    create: method(async ({ signal, idempotencyKey, ifSequence, ...input } = {}) =>
      write(rpc.create, { ...input, agent }, { signal, idempotencyKey, ifSequence }),
    ),
    get: method(async (sessionId, options = {}) => read(rpc.get, { agent, sessionId }, options)),
    history: safeHistory,
    events: method(events),
    messages: method(async (sessionId, options = {}) => read(rpc.messages, { agent, sessionId }, options)),
    restore: method(async (messages, { signal, idempotencyKey, ifSequence, ...input } = {}) =>
      write(rpc.restore, { ...input, agent, messages }, { signal, idempotencyKey, ifSequence }),
    ),
    append: method(async (sessionId, input, options = {}) =>
      write(rpc.append, { ...input, agent, sessionId }, options),
    ),
    list: method(async ({ signal, ...input } = {}) => read(rpc.list, { ...input, agent }, { signal })),
    update: method(async (sessionId, { signal, idempotencyKey, ifSequence, ...input }) =>
      write(rpc.update, { ...input, agent, sessionId }, { signal, idempotencyKey, ifSequence }),
    ),
    complete: method(async (sessionId, { signal, idempotencyKey, ifSequence, ...input } = {}) =>
      write(rpc.complete, { ...input, agent, sessionId }, { signal, idempotencyKey, ifSequence }),
    ),
    fork: method(async (sessionId, { signal, idempotencyKey, ifSequence, ...input } = {}) =>
      write(rpc.fork, { ...input, agent, sessionId }, { signal, idempotencyKey, ifSequence }),
    ),
    delete: method(async (sessionId, options = {}) => write(rpc.delete, { agent, sessionId }, options)),
    pages: (sessionId, { signal, pageSize } = {}) =>
      createPages((page, throughSequence) => safeHistory(sessionId, { page, pageSize, throughSequence, signal })),
    resume: (sessionId, input, options = {}) =>
      createExecution(sessionId, write(rpc.resume, { ...input, agent, sessionId }, options)),
  });
}
