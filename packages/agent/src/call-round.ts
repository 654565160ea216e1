import { copyJson, type EventInput, type ToolCallContent, type ToolOutcome, type ToolResultContent, type Turn } from "@orcha/contract";
import type { LoopStep } from "./loop-step.ts";
import type { OpenRound } from "./loop-input.ts";
import { RunFailure, type LoopCall, type LoopTool } from "./loop-tool.ts";
import type { Ending, RunState } from "./run-state.ts";

/** One turn's calls on their way to their results. */
export class CallRound {
  readonly run: RunState;
  readonly open: OpenRound;
  private readonly results: Map<string, ToolResultContent>;
  /** Results that wait for the next step: between them and it nothing is done. */
  private pending: EventInput[] = [];
  private failure: RunFailure | undefined;

  constructor(run: RunState, open: OpenRound) {
    this.run = run;
    this.open = open;
    this.results = new Map(open.results);
  }

  /** The calls without a result that go to tools of a kind, or to none. */
  waiting<K extends LoopTool["kind"]>(kind: K): { call: ToolCallContent; tool: Extract<LoopTool, { kind: K }> }[] {
    return this.unanswered().flatMap((call) => {
      const tool = this.run.tools.get(call.name);
      return tool?.kind === kind ? [{ call, tool: tool as Extract<LoopTool, { kind: K }> }] : [];
    });
  }

  unanswered(): ToolCallContent[] {
    return this.open.calls.filter(({ callId }) => !this.results.has(callId));
  }

  /** Gives a call its result; `event` is what the log says of it, if anything. */
  settle({ callId, name }: ToolCallContent, outcome: ToolOutcome, event?: EventInput): void {
    this.results.set(callId, { callId, name, ...outcome });
    if (event) this.pending.push(event);
  }

  /** A step of the results so far and what follows them. */
  step(...events: EventInput[]): LoopStep {
    const all = [...this.pending, ...events];
    this.pending = [];
    return { type: "events", events: all };
  }

  /** Tells whether an error ends the run, and keeps it for the end. */
  note(error: unknown): boolean {
    if (!(error instanceof RunFailure)) return false;
    this.failure ??= error;
    return true;
  }

  /** The end that a signal or a failure calls for; the results so far are part of it. */
  ended(): Ending | undefined {
    const ending = this.failure
      ? this.run.failed({ code: "execution_failed", message: this.failure.message, retryable: false })
      : this.run.interrupted();
    return ending && this.with(ending);
  }

  with({ events, end }: Ending): Ending {
    // Nobody goes on with the round of a run that is over. One that pauses stays open: its subagents may have paused too.
    const isOver = end.status === "stopped" || end.status === "failed";
    const turn: EventInput[] = isOver && this.unanswered().length === 0 ? [{ type: "message.created", data: this.toolTurn() }] : [];
    return { events: [...this.pending, ...turn, ...events], end };
  }

  /** The tool turn: every result, in the order of the calls. */
  toolTurn(): Turn {
    const content = this.open.calls.flatMap(({ callId }) => this.results.get(callId) ?? []);
    return { role: "tool", content };
  }
}

/** A call as tools see it: they may do with its arguments what they want. */
export function loopCall({ callId, name, arguments: given }: ToolCallContent): LoopCall {
  return { callId, name, arguments: given === undefined ? undefined : copyJson(given) };
}
