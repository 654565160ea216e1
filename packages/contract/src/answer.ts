import * as v from "valibot";
import type { Finding } from "./agent-message.ts";
import type { AgentTypes, AnyAgentTypes } from "./agent.ts";
import type { RunResult } from "./run.ts";
import type { PendingClientActionOf, SessionSnapshot } from "./session.ts";

/** The receipt of an append. */
export interface AppendReceipt {
  sessionId: string;
  firstSequence: number;
  lastSequence: number;
  findings: Finding[];
}

/** A restored session, and what had to be assumed. */
export interface RestoredSession<T extends AgentTypes = AnyAgentTypes> {
  session: SessionSnapshot<T>;
  findings: Finding[];
}

/** One page of sessions, the last changed first; without `nextCursor` it is the last page. */
export interface SessionList<T extends AgentTypes = AnyAgentTypes> {
  items: SessionSnapshot<T>[];
  nextCursor?: string;
}

/** An answer to a client action, or its denial. */
export type ToolResult =
  | { callId: string; output: unknown; isError?: boolean }
  | { callId: string; deny: true; reason?: string };

/** What a resume answers: how the run went on, or what was recorded for a session whose agent runs elsewhere. */
export type ResumeAnswer<T extends AgentTypes = AnyAgentTypes> = RunResult<T> | RecordedAnswer<T>;

/** What a resume did for a session whose agent runs elsewhere: answers are in the log, and what still waits is listed. */
export interface RecordedAnswer<T extends AgentTypes = AnyAgentTypes> {
  status: "recorded" | "waiting_for_client_action";
  sessionId: string;
  /** Sequence of the event that holds the answers. */
  sequence: number;
  pendingClientActions: PendingClientActionOf<T>[];
}

export const recordedAnswerSchema = v.object({
  status: v.picklist(["recorded", "waiting_for_client_action"]),
  sessionId: v.string(),
  sequence: v.number(),
  pendingClientActions: v.array(v.looseObject({ callId: v.string(), name: v.string() })),
});
