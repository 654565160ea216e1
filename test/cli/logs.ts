import { createWriteStream } from "node:fs";
import { once } from "node:events";

/** Writes a session's log of about so many bytes, as OrchaJS would; answers how many events it has. */
export async function writeLog(file: string, bytes: number, sessionId = "ses_big"): Promise<number> {
  const out = createWriteStream(file);
  let sequence = 0;
  for (let written = 0; written < bytes; ) {
    const line = lineOf((sequence += 1), sessionId);
    written += line.length;
    if (!out.write(line)) await once(out, "drain");
  }
  out.end();
  await once(out, "finish");
  return sequence;
}

/** One line of such a log: turns of a question, a call, its result and an answer. */
export function lineOf(sequence: number, sessionId = "ses_big"): string {
  const timestamp = new Date(Date.UTC(2026, 0, 1) + sequence * 10).toISOString();
  return `${JSON.stringify({ sequence, timestamp, ...eventOf(sequence, sessionId) })}\n`;
}

const text = "Where is my order, and when will it be here? ".repeat(20);

function eventOf(sequence: number, sessionId: string): object {
  const data = { schemaVersion: 1, sessionId, agent: "supportAgent", status: "active", metadata: {}, variables: {} };
  if (sequence === 1) return { type: "session.created", data };
  const callId = `call_${Math.floor(sequence / 4)}`;
  const call = { callId, name: "lookup_order" };
  switch (sequence % 4) {
    case 0:
      return { type: "action.requested", run: 1, data: { ...call, arguments: { orderId: String(sequence) } } };
    case 1:
      return { type: "action.completed", run: 1, data: { ...call, output: { status: text }, durationMs: 3 } };
    case 2:
      return { type: "message.created", run: 1, data: { role: "assistant", content: [{ type: "text", text }] } };
    default:
      return { type: "message.created", run: 1, data: { role: "user", content: [{ type: "text", text }] } };
  }
}
