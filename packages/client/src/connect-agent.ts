import type { AgentDefinition, AnyAgentTypes, SessionEvents, SessionHistory } from "@orcha/contract";
import type { AgentClient, WriteOptions } from "./agent-client.ts";
import type { Connection } from "./connection.ts";
import { createExecution, type Execution, type ExecutionResult, type Work } from "./execution.ts";
import { method } from "./method.ts";
import { createPages } from "./pages.ts";
import { createSessionId } from "./session-id.ts";
import { followTail } from "./tail.ts";
import { markUnknownEvent, markUnknownItem } from "./unknown.ts";
import { verifyArguments } from "./verify.ts";

/** Builds the client of one agent; its definition, where the app gave it, verifies arguments. */
export function connectAgent(connection: Connection, agent: string, definition?: AgentDefinition): AgentClient {
  const { rpc, read, write } = connection;

  const historyBy = (operation: typeof rpc.history, verifiedBy?: AgentDefinition): AgentClient["subagentHistory"] =>
    method(async (sessionId, options): Promise<SessionHistory> => {
      const answer = await read(operation, { ...options, agent, sessionId });
      const items = answer.items.map(markUnknownItem);
      return { ...answer, items: verifiedBy ? await Promise.all(items.map((item) => verifyArguments(item, verifiedBy))) : items };
    });

  const eventsBy = (operation: typeof rpc.events): AgentClient["events"] =>
    method(async (sessionId, options): Promise<SessionEvents> => {
      const answer = await read(operation, { ...options, agent, sessionId });
      return { ...answer, events: answer.events.map(markUnknownEvent) };
    });

  const history = historyBy(rpc.history, definition);
  const stop = method(async (sessionId: string, options?: WriteOptions) => write(rpc.stop, { ...options, agent, sessionId }));

  function execute(work: Omit<Work, "listen" | "policy" | "stop">): Execution<AnyAgentTypes, ExecutionResult> {
    return createExecution({ ...work, listen: connection.listen, policy: connection.retry, stop: (options) => stop(work.sessionId, options) });
  }

  return Object.freeze<AgentClient>({
    agent,
    create: method(async (options) => write(rpc.create, { ...options, agent })),
    get: method(async (sessionId, options) => read(rpc.get, { ...options, agent, sessionId })),
    history,
    events: eventsBy(rpc.events),
    messages: method(async (sessionId, options) => read(rpc.messages, { ...options, agent, sessionId })),
    restore: method(async (messages, options) => write(rpc.restore, { ...options, agent, messages })),
    append: method(async (sessionId, input, options) => write(rpc.append, { ...options, ...input, agent, sessionId })),
    list: method(async (options) => read(rpc.list, { ...options, agent })),
    update: method(async (sessionId, options) => write(rpc.update, { ...options, agent, sessionId })),
    complete: method(async (sessionId, options) => write(rpc.complete, { ...options, agent, sessionId })),
    fork: method(async (sessionId, options) => write(rpc.fork, { ...options, agent, sessionId })),
    delete: method(async (sessionId, options) => write(rpc.delete, { ...options, agent, sessionId })),
    pages: (sessionId, { signal, pageSize } = {}) =>
      createPages((page, throughSequence) => history(sessionId, { page, pageSize, throughSequence, signal })),
    run: (input, options = {}) => {
      const { sessionId = createSessionId(options.idempotencyKey), ...given } = typeof input === "string" ? { content: input } : { ...input };
      // Nothing is "recorded" by a run, which the server drives itself.
      return execute({ operation: "run", input: { ...given, agent, sessionId }, sessionId, options }) as Execution;
    },
    resume: (sessionId, input, options = {}) => {
      const given = typeof input === "string" ? { content: input } : input;
      return execute({ operation: "resume", input: { ...given, agent, sessionId }, sessionId, options });
    },
    pause: method(async (sessionId, options) => write(rpc.pause, { ...options, agent, sessionId })),
    stop,
    tail: (sessionId, options = {}) => followTail(connection, { agent, sessionId }, options),
    subagentHistory: historyBy(rpc.subagentHistory),
    subagentEvents: eventsBy(rpc.subagentEvents),
  });
}
