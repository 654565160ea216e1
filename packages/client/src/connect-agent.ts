import type { AgentDefinition, AnyAgentTypes, SessionEvents, SessionHistory } from "@orcha/contract";
import type { AgentClient, PageOptions, WriteOptions } from "./agent-client.ts";
import type { Connection } from "./connection.ts";
import { createExecution, type Execution, type ExecutionResult, type Work } from "./execution.ts";
import { method } from "./method.ts";
import { createPages } from "./pages.ts";
import { createSessionId } from "./session-id.ts";
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
  const stop = method(async (sessionId: string, options: WriteOptions = {}) => write(rpc.stop, { agent, sessionId }, options));

  function execute(work: Omit<Work, "listen" | "policy" | "stop">): Execution<AnyAgentTypes, ExecutionResult> {
    return createExecution({ ...work, listen: connection.listen, policy: connection.retry, stop: (options) => stop(work.sessionId, options) });
  }

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
    run: (input, options = {}) => {
      const { sessionId = createSessionId(), ...given } = typeof input === "string" ? { content: input } : input;
      // Nothing is "recorded" by a run, which the server drives itself.
      return execute({ operation: "run", input: { ...given, agent, sessionId }, sessionId, options }) as Execution;
    },
    resume: (sessionId, input, options = {}) => {
      const given = typeof input === "string" ? { content: input } : input;
      return execute({ operation: "resume", input: { ...given, agent, sessionId }, sessionId, options });
    },
    pause: method(async (sessionId, options = {}) => write(rpc.pause, { agent, sessionId }, options)),
    stop,
    subagentHistory: method(async (sessionId, { signal, ...page } = {}) => {
      const answer = await read(rpc.subagentHistory, { ...page, agent, sessionId }, { signal });
      return { ...answer, items: answer.items.map(markUnknownItem) };
    }),
    subagentEvents: method(async (sessionId, { signal, ...page } = {}) => {
      const answer = await read(rpc.subagentEvents, { ...page, agent, sessionId }, { signal });
      return { ...answer, events: answer.events.map(markUnknownEvent) };
    }),
  });
}
