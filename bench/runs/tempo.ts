import { defineAgent, defineAgents } from "@orcha/contract";

/** How a model answers. */
export interface Tempo {
  /** Milliseconds before the first piece of text. */
  firstMs: number;
  /** Milliseconds between two pieces. */
  eachMs: number;
}

/** Pieces of an answer, of a few words each. */
export const pieces = 20;

/** What models do here: all but the last say their whole answer at once when they begin. */
export const tempos = {
  quick: { firstMs: 20, eachMs: 0 },
  usual: { firstMs: 300, eachMs: 0 },
  talking: { firstMs: 300, eachMs: 100 },
} as const satisfies Record<string, Tempo>;

export type TempoName = keyof typeof tempos;

/** How long a model of that tempo takes for its answer, in milliseconds. */
export function answerMs({ firstMs, eachMs }: Tempo): number {
  return firstMs + (pieces - 1) * eachMs;
}

/** An agent for each tempo. */
export const agents = defineAgents({ quick: defineAgent({}), usual: defineAgent({}), talking: defineAgent({}) });

export const instructions = "You answer questions about orders.";
export const question = "Where is my order A-1?";
