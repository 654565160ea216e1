import { addUsage, Transcript, type AssistantContent, type EventOf, type SessionEvent, type ToolCallContent, type ToolResultContent, type Turn, type Usage } from "@orcha/contract";
import type { OpenRound } from "@orcha/agent/loop";
import { breathe, chunk, readWholeEvent } from "../reading.ts";
import type { SessionRef, SessionWrite, Store } from "../store/store.ts";

/** What the log tells of a session's last run. */
export interface LastRun {
  number: number;
  /** Milliseconds since 1970. */
  startedAt: number;
  /** Whether a server runs it, and may go on with it. */
  isHosted: boolean;
  /** Names of the client actions that the caller can answer; all of the agent's where the log doesn't say. */
  clientCapabilities: readonly string[] | undefined;
  /** The model's turns so far. */
  answers: number;
  /** Those since the last pause. */
  actionRounds: number;
  usage: Usage | undefined;
  /** How many sessions it delegated. */
  delegated: number;
  /** The fence of its first lease. */
  firstFence: number;
  /** How often it waited for a client. */
  pauses: number;
  /** How it ended, if it did; a pause for a client action is no end. */
  end: "completed" | "failed" | "stopped" | "paused" | undefined;
  /** What is left to do of the model's last turn. */
  open: OpenRound | undefined;
}

/** How often another server went on with a run that has a lease of this fence: each lease after the first that no pause explains. */
export function takeOversOf({ firstFence, pauses }: LastRun, fence: number): number {
  return Math.max(0, fence - firstFence - pauses);
}

/** The number of the round that the holder of this fence is at: one that is begun anew elsewhere may say something else. */
export function roundOf(run: LastRun, fence: number): number {
  return run.answers + takeOversOf(run, fence);
}

/** A session's log as a run needs it. */
export interface RunLog {
  /** Of the last event that was read. */
  sequence: number;
  variables: Readonly<Record<string, string>>;
  turns: readonly Turn[];
  loadedSkills: ReadonlySet<string>;
  /** The highest run number. */
  runs: number;
  last: LastRun | undefined;
  /** Reads on, once, with what was written right behind it: nobody has to ask the store for what it was just told. */
  after: (write: SessionWrite) => RunLog;
}

/** The log of a session that is still to be written. */
export function emptyRunLog(): RunLog {
  return new RunLogReader().log();
}

/** Reads a session's log for its next run, or for the one that goes on; nothing where the session is unknown. */
export async function readRunLog(store: Store, ref: SessionRef): Promise<RunLog | undefined> {
  const reader = new RunLogReader();
  for (let from = 1; ; from += chunk) {
    const bodies = await store.events(ref, from, from + chunk - 1);
    if (!bodies || (from === 1 && bodies.length === 0)) return undefined;
    // A damaged event says nothing; the run goes on without it.
    for (const [index, body] of bodies.entries()) reader.add(readWholeEvent(body), from + index);
    if (bodies.length < chunk) return reader.log();
    await breathe();
  }
}

class RunLogReader {
  private sequence = 0;
  private runs = 0;
  private variables: Record<string, string> = {};
  private readonly transcript = new Transcript();
  private readonly loadedSkills = new Set<string>();
  private last: Omit<LastRun, "open"> | undefined;
  /** Since the last turn of the model. */
  private lastTurn: Turn | undefined;
  private hasToolTurn = false;
  private requested = new Set<string>();
  private delegated = new Map<string, { agent: string; sessionId: string }>();

  add(event: SessionEvent | undefined, sequence: number): void {
    this.sequence = sequence;
    if (!event) return;
    this.transcript.add(event);
    if (event.run !== undefined) this.runs = Math.max(this.runs, event.run);
    switch (event.type) {
      case "session.created":
        this.variables = event.data.variables;
        break;
      case "run.started":
        this.start(event);
        break;
      case "run.completed":
      case "run.failed":
      case "run.stopped":
        if (this.last) this.last.end = event.type === "run.completed" ? "completed" : event.type === "run.failed" ? "failed" : "stopped";
        break;
      case "run.paused":
        if (!this.last) break;
        if (event.data.status === "waiting_for_client_action") {
          this.last.actionRounds = 0;
          this.last.pauses += 1;
        } else this.last.end = "paused";
        break;
      case "message.created":
        this.hear(event);
        break;
      case "action.requested":
      case "skill.requested":
        this.requested.add(event.data.callId);
        break;
      case "client_action.requested":
        for (const { callId } of event.data.calls) this.requested.add(callId);
        break;
      case "skill.loaded":
        this.loadedSkills.add(event.data.name);
        break;
      case "subagent.initiated":
      case "subagent.resumed":
        if (this.last && event.type === "subagent.initiated") this.last.delegated += 1;
        this.delegated.set(event.data.callId, { agent: event.data.agent, sessionId: event.data.sessionId });
        break;
      default:
    }
  }

  log(): RunLog {
    const { sequence, variables, loadedSkills, runs } = this;
    const turns = this.transcript.turns();
    const last = this.last && { ...this.last, open: this.openRound(turns) };
    return { sequence, variables, turns, loadedSkills, runs, last, after: (write) => this.after(write) };
  }

  private after({ events }: SessionWrite): RunLog {
    for (const { body, sequence } of events) this.add(readWholeEvent(body), sequence);
    return this.log();
  }

  private start({ run, timestamp, data }: EventOf<"run.started">): void {
    this.last = {
      number: run ?? this.runs,
      startedAt: Date.parse(timestamp),
      isHosted: data.host === "server",
      clientCapabilities: data.clientCapabilities,
      answers: 0,
      actionRounds: 0,
      usage: undefined,
      delegated: 0,
      firstFence: data.fence ?? 1,
      pauses: 0,
      end: undefined,
    };
    this.beginTurn(undefined);
  }

  private hear({ data }: EventOf<"message.created">): void {
    if (data.role === "tool") {
      this.hasToolTurn = true;
      return;
    }
    this.beginTurn(data.role === "assistant" ? data : undefined);
    if (data.role !== "assistant" || !this.last) return;
    this.last.answers += 1;
    this.last.actionRounds += 1;
    const usage = addUsage(this.last.usage, data.usage);
    if (usage) this.last.usage = usage;
  }

  private beginTurn(turn: Turn | undefined): void {
    this.lastTurn = turn;
    this.hasToolTurn = false;
    this.requested = new Set();
    this.delegated = new Map();
  }

  private openRound(turns: readonly Turn[]): OpenRound | undefined {
    const turn = this.lastTurn;
    // The calls of a turn that was cut are never acted on.
    if (turn?.role !== "assistant" || turn.status === "incomplete") return undefined;
    const calls = turn.content.filter(isToolCall);
    if (calls.length === 0) return undefined;
    const results = new Map<string, ToolResultContent>();
    for (const { role, content } of turns.slice(turns.lastIndexOf(turn) + 1)) {
      if (role === "tool") for (const block of content) results.set(block.callId, block);
    }
    if (this.hasToolTurn && calls.every(({ callId }) => results.has(callId))) return undefined;
    return { calls, results, requested: this.requested, delegated: this.delegated };
  }
}

function isToolCall(block: AssistantContent): block is ToolCallContent {
  return block.type === "tool_call";
}
