import { OrchaError, Transcript, type EventInput, type Turn } from "@orcha/contract";
import { runLoop } from "./loop.ts";
import type { LoopInput } from "./loop-input.ts";
import type { LoopEnd, LoopStep } from "./loop-step.ts";

/** One turn of a conversation that is kept in memory: a prompt, and everything up to its answer. */
export class AgentTurn {
  /** Absent as long as the turn goes on, and where whoever followed it has left. */
  end: LoopEnd | undefined;
  private readonly input: LoopInput;
  private readonly events: EventInput[];
  private shown = "";

  constructor(prompt: string, input: Omit<LoopInput, "now">) {
    const user: Turn = { role: "user", content: [{ type: "text", text: prompt }] };
    this.input = { ...input, turns: [...input.turns, user], now: () => Date.now() };
    this.events = [{ type: "message.created", data: user }];
  }

  /** Takes the turn. Yields the answer in the making, whole and as what it has more than before; leaving stops the model. */
  async *texts(): AsyncGenerator<{ text: string; delta: string }, void, void> {
    for await (const step of this.steps()) {
      if (step.type === "events") {
        this.events.push(...step.events);
        continue;
      }
      // Cut out of a text that grows, pieces would cost the square of its length.
      const { text, delta } = step;
      this.shown = text;
      yield { text, delta };
    }
  }

  private async *steps(): AsyncGenerator<LoopStep, void, void> {
    this.end = yield* runLoop(this.input);
  }

  /** The answer's text; empty where there is none. */
  get text(): string {
    return this.end?.status === "completed" && typeof this.end.output === "string" ? this.end.output : "";
  }

  /** What the turn adds to the conversation. An answer that was made again is no part of it; one that was left is. */
  turns(): readonly Turn[] {
    const transcript = new Transcript();
    for (const [index, event] of this.events.entries()) {
      const isCut = event.type === "message.created" && event.data.status === "incomplete";
      if (isCut && this.events.slice(index + 1).some(({ type }) => type === "message.created")) continue;
      transcript.add({ sequence: index + 1, v: 1, timestamp: "", ...event });
    }
    const left: Turn = { role: "assistant", status: "incomplete", content: [{ type: "text", text: this.shown }] };
    return this.end || this.shown === "" ? transcript.turns() : [...transcript.turns(), left];
  }

  /** Throws where the turn has no answer. */
  check(): void {
    const { end } = this;
    if (end?.status === "completed") return;
    if (end?.status !== "failed") throw new OrchaError("aborted", "the turn was stopped");
    const { code, message, retryable, details } = end.error;
    throw new OrchaError(code === "execution_failed" ? code : "provider_error", message, {
      ...(retryable === undefined ? {} : { retryable }),
      ...(typeof details === "object" && details !== null ? { details: { ...details } } : {}),
    });
  }
}
