import { contract } from "@orcha/contract";
import { implement } from "@orpc/server";
import type { Call } from "./call.ts";
import type { Sessions } from "./sessions.ts";

/** What a request knows before its input is read. */
export interface RequestContext {
  call: Call;
  /** Aborted where the caller is gone. A function, since making the signal costs a request as much as a short answer. */
  signal: () => AbortSignal;
}

/** Every operation, as a thin line to the sessions. */
export function createRouter({ reading, writing, forking, runs, tailing }: Sessions) {
  // Answers are checked by tests, not again on every request: what the store gives back was checked when it came in.
  const os = implement(contract).$config({ initialOutputValidationIndex: Number.NaN }).$context<RequestContext>();
  return os.router({
    create: os.create.handler(({ input, context }) => writing.create(context.call, input)),
    restore: os.restore.handler(({ input, context }) => writing.restore(context.call, input)),
    append: os.append.handler(({ input, context }) => writing.append(context.call, input)),
    run: os.run.handler(({ input, context }) => runs.run(context.call, input)),
    resume: os.resume.handler(({ input, context }) => runs.resume(context.call, input)),
    pause: os.pause.handler(({ input, context }) => runs.pause(context.call, input)),
    stop: os.stop.handler(({ input, context }) => runs.stop(context.call, input)),
    update: os.update.handler(({ input, context }) => writing.update(context.call, input)),
    complete: os.complete.handler(({ input, context }) => writing.complete(context.call, input)),
    fork: os.fork.handler(({ input, context }) => forking.fork(context.call, input)),
    delete: os.delete.handler(({ input, context }) => writing.delete(context.call, input)),
    get: os.get.handler(({ input, context }) => reading.get(context.call, input)),
    list: os.list.handler(({ input, context }) => reading.list(context.call, input)),
    history: os.history.handler(({ input, context }) => reading.history(context.call, input)),
    events: os.events.handler(({ input, context }) => reading.events(context.call, input)),
    subagentHistory: os.subagentHistory.handler(({ input, context }) => reading.subagentHistory(context.call, input)),
    subagentEvents: os.subagentEvents.handler(({ input, context }) => reading.subagentEvents(context.call, input)),
    tail: os.tail.handler(({ input, context }) => tailing.piece(context.call, input, context.signal())),
    messages: os.messages.handler(({ input, context }) => reading.messages(context.call, input)),
  });
}

export type OrchaRouter = ReturnType<typeof createRouter>;
