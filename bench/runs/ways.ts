import { createOrcha } from "@orcha/client";
import { streamText } from "ai";
import { modelAt } from "./model-at.ts";
import { instructions, question, type agents, type TempoName } from "./tempo.ts";

/** How long an answer took, in milliseconds from the call. */
export interface Timed {
  /** Until its first text. */
  first: number;
  /** Until all of it was there. */
  whole: number;
}

/** A way to have a model answer. */
export type Way = (tempo: TempoName) => Promise<Timed>;

/** The model server, asked by the AI SDK in this process: what an app without Orcha does. */
export function straight(modelPort: number): Way {
  return async (tempo) => {
    const start = performance.now();
    let first = Number.NaN;
    let text = "";
    for await (const piece of streamText({ model: modelAt(modelPort, tempo), instructions, prompt: question }).textStream) {
      if (text === "") first = performance.now() - start;
      text += piece;
    }
    if (text === "") throw new Error("the model said nothing");
    return { first, whole: performance.now() - start };
  };
}

/** A run of a new session on Orcha's server, which asks the same model server. */
export function throughOrcha(port: number): Way {
  const orcha = createOrcha<typeof agents>({ baseUrl: `http://127.0.0.1:${port}` });
  return async (tempo) => {
    const start = performance.now();
    const run = orcha[tempo].run(question);
    let first = Number.NaN;
    for await (const frame of run.stream) {
      if (frame.status === "failed") throw new Error(frame.error.message);
      if (Number.isNaN(first)) first = performance.now() - start;
    }
    return { first, whole: performance.now() - start };
  };
}
