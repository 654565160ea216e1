import { addUsage, type ClientActionCall, type EventError, type EventInput, type EventInputOf, type Turn, type Usage } from "@orcha/contract";
import { interruptionOf, stopReasonOf } from "./interruption.ts";
import type { LoopInput } from "./loop-input.ts";
import type { LoopEnd } from "./loop-step.ts";
import type { LoopTool } from "./loop-tool.ts";
import { callsOf } from "./pairing.ts";

/** How a run ends, and what the log says of it. Nothing is said of a lost run. */
export interface Ending {
  events: readonly EventInput[];
  end: LoopEnd;
}

type Assistant = Extract<Turn, { role: "assistant" }>;
type MessageEvent = EventInputOf<"message.created">;

/** A run as far as it is: its turns, its count of rounds and what it cost. */
export class RunState {
  readonly input: LoopInput;
  readonly tools: ReadonlyMap<string, LoopTool>;
  /** The conversation as the model's next call sees it. */
  readonly turns: Turn[];
  /** The assistant turns of the run so far. */
  round: number;
  actionRounds: number;
  private usage: Usage | undefined;
  private readonly startedAt: number;
  private readonly callIds: Set<string>;

  constructor(input: LoopInput) {
    const { resume, turns } = input;
    this.input = input;
    this.tools = new Map(input.tools.map((tool) => [tool.name, tool]));
    this.turns = resume?.open ? withoutResults(turns, new Set(resume.open.calls.map(({ callId }) => callId))) : [...turns];
    this.round = resume?.round ?? 0;
    this.actionRounds = resume?.actionRounds ?? this.round;
    this.usage = resume?.usage;
    this.startedAt = resume?.startedAt ?? input.now();
    this.callIds = new Set(turns.flatMap((turn) => callsOf(turn).map(({ callId }) => callId)));
  }

  /** Gives a call an id that the conversation doesn't have yet: keys of effects are made of them. */
  nameCall(wanted: string): string {
    const base = wanted === "" ? "call" : wanted;
    let callId = base;
    for (let number = 2; this.callIds.has(callId); number += 1) {
      const suffix = `_${number}`;
      callId = `${base.slice(0, 512 - suffix.length)}${suffix}`;
    }
    this.callIds.add(callId);
    return callId;
  }

  /** Takes in a turn of the model: it counts, costs, and belongs to the conversation. */
  answered(turn: Assistant): MessageEvent {
    this.round += 1;
    this.usage = addUsage(this.usage, turn.usage);
    return this.said(turn);
  }

  said(turn: Turn): MessageEvent {
    this.turns.push(turn);
    return { type: "message.created", data: turn };
  }

  completed(message: MessageEvent, output: unknown): Ending {
    const { usage, durationMs } = this.cost();
    return {
      events: [message, { type: "run.completed", data: { status: "completed", output, ...usage, durationMs } }],
      end: { status: "completed", output, ...usage },
    };
  }

  failed(error: EventError, messages: readonly EventInput[] = []): Ending {
    const { usage, durationMs } = this.cost();
    return {
      events: [...messages, { type: "run.failed", data: { status: "failed", error, ...usage, durationMs } }],
      end: { status: "failed", error, ...usage },
    };
  }

  waiting(requested: readonly ClientActionCall[], all: readonly ClientActionCall[]): Ending {
    const { usage, durationMs } = this.cost();
    const events: EventInput[] =
      requested.length === 0
        ? []
        : [
            { type: "client_action.requested", data: { status: "waiting", calls: [...requested] } },
            { type: "run.paused", data: { status: "waiting_for_client_action", ...usage, durationMs } },
          ];
    return { events, end: { status: "waiting_for_client_action", calls: all, ...usage } };
  }

  /** Ends as the signal says; nothing while it says nothing. `cut` is the answer that was in the making. */
  interrupted(cut?: Assistant): Ending | undefined {
    const how = interruptionOf(this.input.signal);
    if (how === undefined) return undefined;
    if (how === "lost") return { events: [], end: { status: "lost" } };
    const messages = cut ? [this.answered(cut)] : [];
    const { usage, durationMs } = this.cost();
    const text = cut?.content.flatMap((block) => (block.type === "text" ? [block.text] : [])).join("");
    const output = text === undefined ? {} : { output: text };
    if (how === "pause") {
      return {
        events: [...messages, { type: "run.paused", data: { status: "paused", ...output, ...usage, durationMs } }],
        end: { status: "paused", ...output, ...usage },
      };
    }
    const reason = stopReasonOf(this.input.signal);
    return {
      events: [
        ...messages,
        { type: "run.stopped", data: { status: "stopped", ...(reason === undefined ? {} : { reason }), ...usage, durationMs } },
      ],
      end: { status: "stopped", ...output, ...usage },
    };
  }

  private cost(): { usage: { usage?: Usage }; durationMs: number } {
    return {
      usage: this.usage === undefined ? {} : { usage: this.usage },
      durationMs: Math.max(0, this.input.now() - this.startedAt),
    };
  }
}

/** The results of the open round are those of its record: a tool turn that the log has early would stand before them. */
function withoutResults(turns: readonly Turn[], callIds: ReadonlySet<string>): Turn[] {
  const caller = turns.findLastIndex((turn) => callsOf(turn).some(({ callId }) => callIds.has(callId)));
  return turns.flatMap((turn, index): Turn[] => {
    if (index <= caller || turn.role !== "tool") return [turn];
    const content = turn.content.filter((block) => !callIds.has(block.callId));
    return content.length === 0 ? [] : [{ ...turn, content }];
  });
}
