import { Transcript, type AgentMessage } from "@orcha/contract";
import { breathe, chunk, readSnapshot, readWholeEvent } from "../reading.ts";
import type { SessionRef, Store } from "../store/store.ts";

/** Reads a session as its last answer's judge sees it. */
export async function readTranscript(store: Store, ref: SessionRef): Promise<{ messages: AgentMessage[]; output: unknown }> {
  const text = await store.snapshot(ref);
  if (text === undefined) throw new Error("the session is gone");
  const { sequence, lastOutput } = readSnapshot(text);
  const transcript = new Transcript();
  for (let from = 1; from <= sequence; from += chunk) {
    const bodies = (await store.events(ref, from, Math.min(sequence, from + chunk - 1))) ?? [];
    for (const body of bodies) {
      const event = readWholeEvent(body);
      if (event) transcript.add(event);
    }
    await breathe();
  }
  return { messages: transcript.messages(), output: lastOutput };
}
