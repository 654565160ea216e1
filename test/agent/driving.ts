import { runLoop, type ActionTool, type LoopEnd, type LoopInput, type LoopStep } from "@orcha/agent/loop";
import { eventDataSchemas, Transcript, type EventDataByType, type EventInput, type Turn } from "@orcha/contract";
import * as v from "valibot";

/** What a run did, as whoever drives it sees it. */
export interface Driven {
  steps: LoopStep[];
  events: EventInput[];
  texts: string[];
  end: LoopEnd;
}

/** An input with defaults for everything that a test doesn't care about. */
export function inputOf(input: Partial<LoopInput> & Pick<LoopInput, "model">): LoopInput {
  return {
    instructions: () => "",
    turns: [says("Hello")],
    tools: [],
    signal: new AbortController().signal,
    now: () => Date.now(),
    ...input,
  };
}

export function says(text: string): Turn {
  return { role: "user", content: [{ type: "text", text }] };
}

/** Drives a run to its end. `stored` is called with each step, as a driver's store would be. */
export async function drive(input: LoopInput, stored: (step: LoopStep) => void | Promise<void> = () => undefined): Promise<Driven> {
  const loop = runLoop(input);
  const steps: LoopStep[] = [];
  for (;;) {
    const next = await loop.next();
    if (next.done) return { steps, events: eventsOf(steps), texts: textsOf(steps), end: next.value };
    steps.push(next.value);
    await stored(next.value);
  }
}

export function eventsOf(steps: readonly LoopStep[]): EventInput[] {
  return steps.flatMap((step) => (step.type === "events" ? step.events : []));
}

function textsOf(steps: readonly LoopStep[]): string[] {
  return steps.flatMap((step) => (step.type === "text" ? [step.text] : []));
}

/** The types of the events of each step: what is stored together. */
export function batches(steps: readonly LoopStep[]): string[][] {
  return steps.flatMap((step) => (step.type === "events" ? [step.events.map(labelOf)] : []));
}

export function labelOf(event: EventInput): string {
  if (event.type !== "message.created") return event.type;
  return `${event.data.role}${event.data.status === "incomplete" ? " (incomplete)" : ""}`;
}

/** The turns that a log of these events has, the ones before them included. */
export function turnsAfter(turns: readonly Turn[], events: readonly EventInput[]): readonly Turn[] {
  const transcript = new Transcript();
  const all: EventInput[] = [...turns.map((data) => ({ type: "message.created", data }) as const), ...events];
  for (const [index, event] of all.entries()) {
    transcript.add({ sequence: index + 1, v: 1, timestamp: "2026-01-01T00:00:00.000Z", ...event });
  }
  return transcript.turns();
}

/** The schema of a tool whose arguments don't matter. */
export const anything = { type: "object", properties: {} };

export function action(name: string, execute: ActionTool["execute"]): ActionTool {
  return { kind: "action", name, inputSchema: anything, idempotencyKey: ({ callId }) => `key:${callId}`, execute };
}

/** Checks that a log would take the events. */
export function expectStorable(events: readonly EventInput[]): void {
  for (const { type, data } of events) v.parse(eventDataSchemas[type], data);
}

export function find<T extends EventInput["type"]>(events: readonly EventInput[], type: T): EventDataByType[T] {
  const event = events.find((candidate) => candidate.type === type);
  if (!event) throw new Error(`no ${type} among ${events.map(labelOf).join(", ")}`);
  // The type names the data.
  return event.data as EventDataByType[T];
}
