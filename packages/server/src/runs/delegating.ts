import { RunFailure, type Delegation, type LoopCall, type LoopTool, type SubagentEnd } from "@orcha/agent/loop";
import { isPlainObject, OrchaError, type Agent, type Lineage, type RunResult } from "@orcha/contract";
import { allScopes } from "../auth.ts";
import type { Call } from "../call.ts";
import type { Reading, SessionInput } from "../reading.ts";
import type { SessionRef, Store } from "../store/store.ts";
import { sleep } from "../store/wait.ts";
import type { Surroundings } from "../surroundings.ts";
import { excerpt } from "./excerpt.ts";
import type { Following } from "./following.ts";
import type { AnyImplementation } from "./implementation.ts";
import type { LastRun } from "./run-log.ts";
import type { RunInput, RunRef } from "./starting.ts";
import { subagentEndOf } from "./subagent-end.ts";

/** What the tools need of everything else; given later, since runs start runs. */
export interface Delegates {
  run: (call: Call, input: RunInput, lineage: Lineage) => Promise<RunRef>;
  resume: (call: Call, input: SessionInput & { content?: unknown; toolResults?: unknown }) => Promise<RunRef>;
  interrupt: (kind: "pause" | "stop", call: Call, input: SessionInput) => Promise<unknown>;
}

interface Parts {
  store: Store;
  reading: Reading;
  surroundings: Surroundings;
  following: Following;
  delegates: () => Delegates;
}

/** The run that delegates. */
export interface Delegator {
  ref: SessionRef;
  agent: Agent;
  implementation: AnyImplementation;
  /** What its session was opened with: its children's sessions are, too. */
  variables: Readonly<Record<string, string>>;
  isChild: boolean;
  last: LastRun;
}

/** How long a store that is away is left alone, in milliseconds, before a child's end is looked for again. */
const retryMs = 500;

/** How much of one history item the model gets to see, in characters. */
const longestItem = 8000;

/*
 * A child is a session of its own, linked both ways: its lineage names the parent's call, and the parent's log names the
 * child before it is opened. Each call carries an idempotency key made of both, so that a parent that goes on after a
 * crash finds the child that it had opened.
 */

/** Makes the tools by which one agent hands work to others. */
export class Delegating {
  private readonly parts: Parts;

  constructor(parts: Parts) {
    this.parts = parts;
  }

  /** None where the agent has no subagents, or the session was delegated itself: one level is enough. */
  tools({ ref, agent: { definition }, implementation, variables, isChild, last }: Delegator): LoopTool[] {
    const { maxSubagentsPerRun = 10 } = implementation;
    const subagents = definition.subagents ?? [];
    if (isChild || subagents.length === 0) return [];
    let delegated = last.delegated;
    const agent = { type: "string", enum: [...subagents] };
    const sessionId = { type: "string", description: "The childSessionId of an earlier result" };
    return [
      {
        kind: "subagent",
        name: "run_agent",
        description: "Hands a task to another agent and waits for its result",
        inputSchema: objectSchema({ agent, input: { type: "string", description: "The task" } }, ["agent", "input"]),
        begin: async (call) => {
          const { agent: child, input } = fields(call);
          if (typeof child !== "string" || !subagents.includes(child)) throw new Error(`agent must be one of ${subagents.join(", ")}`);
          if (typeof input !== "string" || input.trim() === "") throw new Error("input must be a text");
          delegated += 1;
          if (delegated > maxSubagentsPerRun) throw new RunFailure(`a run may delegate ${maxSubagentsPerRun} times`);
          return { opened: "initiated", agent: child, sessionId: this.parts.surroundings.sessionId() };
        },
        execute: (call, delegation, signal) => this.follow(ref, call, delegation, signal, () => this.open(ref, call, delegation, variables)),
      },
      {
        kind: "subagent",
        name: "resume_agent",
        description: "Goes on with an earlier task of another agent: with a new message, or with answers to what it waits for",
        inputSchema: objectSchema({ sessionId, input: { type: "string" }, toolResults: { type: "array", items: { type: "object" } } }, ["sessionId"]),
        begin: async (call) => {
          const { sessionId: id, input, toolResults } = fields(call);
          if ((input === undefined) === (toolResults === undefined)) throw new Error("give either input or toolResults");
          return { opened: "resumed", ...(await this.childOf(ref, subagents, id)) };
        },
        execute: (call, delegation, signal) => this.follow(ref, call, delegation, signal, () => this.goOn(ref, call, delegation)),
      },
      {
        kind: "silent",
        name: "inspect_agent",
        description: "Reads what happened in an earlier task of another agent",
        inputSchema: objectSchema({ sessionId, page: { type: "integer", minimum: 1 } }, ["sessionId"]),
        execute: async (call) => {
          const { sessionId: id, page = 1 } = fields(call);
          const child = await this.childOf(ref, subagents, id);
          if (!Number.isInteger(page) || Number(page) < 1) throw new Error("page must be an integer from 1");
          const { items, total, hasMore, runStatus } = await this.parts.reading.history(callOf(ref), { ...child, page: Number(page), pageSize: 20 });
          return { runStatus, items: items.map((item) => excerpt(item, longestItem)), total, hasMore };
        },
      },
    ];
  }

  private open(
    parent: SessionRef,
    { callId, arguments: given }: LoopCall,
    { agent, sessionId }: Delegation,
    variables: Delegator["variables"],
  ): Promise<RunRef> {
    const lineage: Lineage = { origin: "delegated", parentAgent: parent.agent, parentSessionId: parent.sessionId, parentCallId: callId };
    const content = isPlainObject(given) ? given["input"] : undefined;
    return this.parts.delegates().run(callOf(parent, callId), { agent, sessionId, content, variables }, lineage);
  }

  private goOn(parent: SessionRef, call: LoopCall, { agent, sessionId }: Delegation): Promise<RunRef> {
    const { input, toolResults } = fields(call);
    const given = toolResults === undefined ? { content: input } : { toolResults };
    return this.parts.delegates().resume(callOf(parent, call.callId), { agent, sessionId, ...given });
  }

  /**
   * Follows a child to its end, however long that takes. Where the parent is interrupted, the child is too, and what its
   * parent is told has failed works no longer.
   */
  private async follow(
    parent: SessionRef,
    { callId }: LoopCall,
    { agent, sessionId }: Delegation,
    signal: AbortSignal,
    start: () => Promise<RunRef>,
  ): Promise<SubagentEnd> {
    const end = (kind: "pause" | "stop"): Promise<unknown> =>
      this.parts.delegates().interrupt(kind, callOf(parent), { agent, sessionId }).catch(ignore);
    const interrupt = (): void => {
      if (signal.reason !== "lost") void end(signal.reason === "pause" ? "pause" : "stop");
    };
    signal.addEventListener("abort", interrupt, { once: true });
    let started: RunRef | undefined;
    try {
      started = await start();
      // What was told while the child was being opened found no session.
      if (signal.aborted) interrupt();
      return subagentEndOf(await this.resultOf(started, signal));
    } catch (error) {
      if (!(error instanceof OrchaError)) throw error;
      if (started && !signal.aborted) await end("stop");
      return { type: "failed", data: { status: "failed", error: { code: error.code, message: `call ${callId}: ${error.message}` } } };
    } finally {
      signal.removeEventListener("abort", interrupt);
    }
  }

  /** A store that is away for a moment is no failure of the child: how long that may last, the parent's lease says. */
  private async resultOf(child: RunRef, signal: AbortSignal): Promise<RunResult> {
    for (;;) {
      try {
        return await this.parts.following.result(child);
      } catch (error) {
        const isAway = error instanceof OrchaError && error.code === "storage_error";
        if (!isAway || signal.aborted) throw error;
        await sleep(retryMs);
      }
    }
  }

  private async childOf(parent: SessionRef, subagents: readonly string[], sessionId: unknown): Promise<{ agent: string; sessionId: string }> {
    if (typeof sessionId !== "string") throw new Error("sessionId must be a text");
    for (const agent of subagents) {
      const current = await this.parts.store.read({ ...parent, agent, sessionId }, []);
      const lineage = current?.view.snapshot.lineage;
      if (lineage?.origin !== "delegated") continue;
      if (lineage.parentAgent === parent.agent && lineage.parentSessionId === parent.sessionId) return { agent, sessionId };
    }
    throw new Error("this conversation delegated no such session");
  }
}

/** The parent calls in its own name, with a key of its own where it writes. */
function callOf({ tenant, sessionId }: SessionRef, callId?: string): Call {
  const principal = { tenant, scopes: allScopes };
  return callId === undefined ? { principal } : { principal, idempotencyKey: `${sessionId}:${callId}` };
}

function fields({ arguments: given }: LoopCall): Record<string, unknown> {
  if (!isPlainObject(given)) throw new Error("the arguments must be an object");
  return given;
}

function objectSchema(properties: Record<string, unknown>, required: string[]): Record<string, unknown> {
  return { type: "object", properties, required, additionalProperties: false };
}

function ignore(): void {}
