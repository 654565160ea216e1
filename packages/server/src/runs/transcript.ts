import { Transcript, type AgentMessage } from "@orcha/contract";
import { breathe, chunk, readWholeEvent } from "../reading.ts";
import type { SessionRef, Store } from "../store/store.ts";

/** A session as of a run's end. */
export interface RunTranscript {
  messages: AgentMessage[];
  /** The run's answer. */
  output: unknown;
}

/** Reads a session up to the end of a completed run: what came behind it is none of its judges' business. */
export async function readTranscript(store: Store, ref: SessionRef, run: number): Promise<RunTranscript> {
  const transcript = new Transcript();
  for (let from = 1; ; from += chunk) {
    const bodies = await store.events(ref, from, from + chunk - 1);
    if (!bodies || bodies.length === 0) throw new Error("the session is gone");
    for (const body of bodies) {
      const event = readWholeEvent(body);
      if (!event) continue;
      transcript.add(event);
      if (event.type === "run.completed" && event.run === run) return { messages: transcript.messages(), output: event.data.output };
    }
    await breathe();
  }
}
