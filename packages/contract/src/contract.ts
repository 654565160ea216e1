import { oc } from "@orpc/contract";
import * as v from "valibot";
import { agentMessageSchema, findingSchema, type AgentMessage } from "./agent-message.ts";
import { recordedAnswerSchema, type AppendReceipt, type RestoredSession, type ResumeAnswer, type SessionList } from "./answer.ts";
import { errorTable, type ErrorCode } from "./error.ts";
import { sessionEventsSchema, sessionHistorySchema, type SessionEvents, type SessionHistory } from "./history.ts";
import { runResultSchema, type RunResult } from "./run.ts";
import { metadataSchema, sessionIdSchema, sessionNameSchema, sessionSnapshotSchema, type SessionSnapshot } from "./session.ts";
import { tailPieceSchema, type TailPiece } from "./tail.ts";

/** What a caller must be allowed to do. */
export type Scope = "read" | "log" | "run" | "resolve" | "write" | "admin";

/** What the server needs to know of an operation before it looks at the input. */
export interface OperationMeta {
  scope: Scope;
  /** Lets callers in who have this one instead; the operation then sees what each may do. */
  orScope?: Scope;
  /** Writes take an idempotency key and an expected sequence. */
  write: boolean;
}

/** The most messages or events that one append takes. */
export const maxAppend = 1000;

/** The largest request body, in bytes. */
export const maxBodyBytes = 4 * 1024 * 1024;

// Answers are typed by hand-written interfaces, which read better than what schemas infer; the server's tests hold the
// two together by checking every answer against its schema.
function answer<T>(schema: v.GenericSchema): v.GenericSchema<unknown, T> {
  return schema as v.GenericSchema<unknown, T>;
}

const errorData = v.object({
  retryable: v.boolean(),
  details: v.optional(v.looseObject({ path: v.optional(v.string()) })),
});

type ErrorMap = { [C in ErrorCode]: { status: number; data: typeof errorData } };

const errors = Object.fromEntries(
  Object.entries(errorTable).map(([code, { status }]) => [code, { status, data: errorData }]),
) as ErrorMap;

const base = oc.$meta<OperationMeta>({ scope: "admin", write: false }).errors(errors);
const read = base.meta({ scope: "read", write: false });
const log = base.meta({ scope: "log", write: false });
const write = base.meta({ scope: "write", write: true });

const agent = v.string();
const session = { agent, sessionId: sessionIdSchema };
const metadata = v.optional(metadataSchema);
const list: v.GenericSchema<readonly unknown[]> = v.array(v.unknown());
const names: v.GenericSchema<readonly string[]> = v.array(v.string());
const pageSize = v.optional(v.pipe(v.number(), v.integer(), v.minValue(1), v.maxValue(100)), 50);
const pageInput = v.strictObject({
  ...session,
  page: v.optional(v.pipe(v.number(), v.integer(), v.minValue(1)), 1),
  pageSize,
  throughSequence: v.optional(v.pipe(v.number(), v.integer(), v.minValue(1))),
});
const sessions = "/agents/{agent}/sessions" as const;
const path = `${sessions}/{sessionId}` as const;
const snapshot = answer<SessionSnapshot>(sessionSnapshotSchema);

/** Every operation of a server. */
export const contract = {
  create: write
    .route({
      method: "POST",
      path: sessions,
      successStatus: 201,
      summary: "Create a session",
      description: "Opens an empty session. A `sessionId` of your own must be new; without one the server makes it.",
    })
    .input(
      v.strictObject({
        agent,
        sessionId: v.optional(sessionIdSchema),
        name: v.optional(sessionNameSchema),
        metadata,
        variables: v.optional(v.unknown()),
      }),
    )
    .output(snapshot),
  restore: write
    .route({
      method: "POST",
      path: sessions,
      successStatus: 201,
      summary: "Restore a session from messages",
      description:
        "Opens a session with a conversation that happened elsewhere, in the AgentMessage format. It is checked as a whole: " +
        "a history that no model would take is `history_invalid`, and `findings` say what had to be assumed.",
    })
    .input(
      v.strictObject({
        agent,
        messages: v.unknown(),
        sessionId: v.optional(sessionIdSchema),
        name: v.optional(sessionNameSchema),
        metadata,
      }),
    )
    .output(answer<RestoredSession>(v.object({ session: sessionSnapshotSchema, findings: v.array(findingSchema) }))),
  append: write
    .route({
      method: "POST",
      path: `${path}/append`,
      summary: "Append messages or events",
      description: "Logs what an agent that runs elsewhere did: `messages` or `events`, at most 1,000, all of them or none.",
    })
    .input(
      v.strictObject({
        ...session,
        messages: v.optional(v.unknown()),
        events: v.optional(list),
      }),
    )
    .output(
      answer<AppendReceipt>(
        v.object({
          sessionId: v.string(),
          firstSequence: v.number(),
          lastSequence: v.number(),
          findings: v.array(findingSchema),
        }),
      ),
    ),
  run: base
    .meta({ scope: "run", write: true })
    .route({
      method: "POST",
      path: "/agents/{agent}/runs",
      summary: "Run an agent",
      description:
        "Opens a session with a message and runs the agent on it. Answers the result when the run has ended or waits for a " +
        "client action; a request that accepts `text/event-stream` gets the answer in the making, too. The run goes on " +
        "whether or not anybody listens, and the same `Idempotency-Key` listens again.",
    })
    .input(
      v.strictObject({
        agent,
        sessionId: v.optional(sessionIdSchema),
        content: v.unknown(),
        name: v.optional(sessionNameSchema),
        metadata,
        variables: v.optional(v.unknown()),
        clientCapabilities: v.optional(v.unknown()),
      }),
    )
    .output(answer<RunResult>(runResultSchema)),
  resume: base
    .meta({ scope: "resolve", orScope: "run", write: true })
    .route({
      method: "POST",
      path: `${path}/resume`,
      summary: "Answer client actions, or go on with a session",
      description:
        "With `toolResults` it records answers or denials of the client actions that the session waits for (scope " +
        "`resolve`); the run goes on when none is left. With `content`, or with neither, it starts the session's next run " +
        "(scope `run`). For an agent that runs elsewhere it records and says what still waits.",
    })
    .input(
      v.strictObject({
        ...session,
        content: v.optional(v.unknown()),
        toolResults: v.optional(v.unknown()),
        clientCapabilities: v.optional(v.unknown()),
      }),
    )
    .output(
      answer<ResumeAnswer>(
        v.union([
          runResultSchema,
          recordedAnswerSchema,
        ]),
      ),
    ),
  pause: base
    .meta({ scope: "run", write: true })
    .route({
      method: "POST",
      path: `${path}/pause`,
      summary: "Pause a session",
      description:
        "Interrupts the run, keeping what was said; the action at work finishes. Client actions go on waiting. `resume` " +
        "makes the session active again.",
    })
    .input(v.strictObject(session))
    .output(snapshot),
  stop: base
    .meta({ scope: "run", write: true })
    .route({
      method: "POST",
      path: `${path}/stop`,
      summary: "Stop a session's run",
      description:
        "Ends the run at once, keeping what was said, and cancels the client actions that it waits for. The session stays " +
        "open. Without a run there is nothing to stop, which is no error.",
    })
    .input(v.strictObject(session))
    .output(snapshot),
  get: read
    .route({ method: "GET", path, summary: "Get a session", description: "Answers the session at a glance." })
    .input(v.strictObject(session))
    .output(snapshot),
  list: read
    .route({
      method: "GET",
      path: sessions,
      summary: "List sessions",
      description:
        "Lists an agent's sessions, the last changed first. Every filter must match exactly; `nextCursor` leads to the next page.",
    })
    .input(
      v.strictObject({
        agent,
        pageSize,
        cursor: v.optional(v.string()),
        status: v.optional(sessionSnapshotSchema.entries.status),
        runStatus: v.optional(sessionSnapshotSchema.entries.runStatus.wrapped),
        metadata,
      }),
    )
    .output(
      answer<SessionList>(v.object({ items: v.array(sessionSnapshotSchema), nextCursor: v.optional(v.string()) })),
    ),
  update: write
    .route({
      method: "PATCH",
      path,
      summary: "Change a session's name or metadata",
      description: "Sets the name (null removes it), merges `metadata` in, and removes the metadata keys of `unset`.",
    })
    .input(
      v.strictObject({
        ...session,
        name: v.optional(v.nullable(sessionNameSchema)),
        metadata,
        unset: v.optional(names),
      }),
    )
    .output(snapshot),
  complete: write
    .route({
      method: "POST",
      path: `${path}/complete`,
      summary: "Complete a session",
      description: "Closes the session for good: it takes no more turns, and stays readable.",
    })
    .input(
      v.strictObject({
        ...session,
        status: v.optional(v.picklist(["completed", "failed"]), "completed"),
        summary: v.optional(v.pipe(v.string(), v.trim(), v.minLength(1), v.maxLength(2000))),
      }),
    )
    .output(snapshot),
  fork: write
    .route({
      method: "POST",
      path: `${path}/fork`,
      successStatus: 201,
      summary: "Fork a session",
      description: "Copies the log up to `throughSequence` (default: all of it) into a new session that goes on from there.",
    })
    .input(
      v.strictObject({
        ...session,
        throughSequence: v.optional(v.pipe(v.number(), v.integer(), v.minValue(1))),
        name: v.optional(sessionNameSchema),
      }),
    )
    .output(snapshot),
  delete: write
    .route({
      method: "DELETE",
      path,
      successStatus: 204,
      summary: "Delete a session",
      description: "Removes the session and the sessions it delegated to, with all they hold. Its id is not free again.",
    })
    .input(v.strictObject(session))
    .output(v.void()),
  history: read
    .route({
      method: "GET",
      path: `${path}/history`,
      summary: "Read a page of what to render",
      description:
        "Messages, actions, subagents, skills and evaluations, oldest first within a page; page 1 is the newest. Pass " +
        "`throughSequence` back to keep turning the pages of the same view.",
    })
    .input(pageInput)
    .output(answer<SessionHistory>(sessionHistorySchema)),
  events: log
    .route({
      method: "GET",
      path: `${path}/events`,
      summary: "Read a page of the log",
      description: "Everything that happened, reasoning and tool outputs included, oldest first within a page.",
    })
    .input(pageInput)
    .output(answer<SessionEvents>(sessionEventsSchema)),
  subagentHistory: read
    .route({
      method: "GET",
      path: "/agents/{agent}/subagents/{sessionId}/history",
      summary: "Read a page of a subagent's session",
      description: "As `history`, for a session that this agent delegated to another one.",
    })
    .input(pageInput)
    .output(answer<SessionHistory>(sessionHistorySchema)),
  subagentEvents: log
    .route({
      method: "GET",
      path: "/agents/{agent}/subagents/{sessionId}/events",
      summary: "Read a page of a subagent's log",
      description: "As `events`, for a session that this agent delegated to another one.",
    })
    .input(pageInput)
    .output(answer<SessionEvents>(sessionEventsSchema)),
  tail: read
    .route({
      method: "GET",
      path: `${path}/tail`,
      summary: "Follow a session",
      description:
        "Tells what changes behind `after` (a page's `throughSequence`; by default now): items as they are, the snapshot, and " +
        "the answer in the making. A request that accepts `text/event-stream` gets a stream, others a piece at a time, within " +
        "half a minute; `after` of a piece asks for the next one.",
    })
    .input(v.strictObject({ ...session, after: v.optional(v.pipe(v.number(), v.integer(), v.minValue(0))) }))
    .output(answer<TailPiece>(tailPieceSchema)),
  messages: log
    .route({
      method: "GET",
      path: `${path}/messages`,
      summary: "Read the model's view",
      description: "The whole conversation as a model would get it, ready to restore elsewhere.",
    })
    .input(v.strictObject(session))
    .output(answer<AgentMessage[]>(v.array(agentMessageSchema))),
};

/** The type of every operation, for clients. */
export type Contract = typeof contract;

/** The name of an operation. */
export type OperationName = keyof Contract;
