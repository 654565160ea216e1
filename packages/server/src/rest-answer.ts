import { contract, type OperationName } from "@orcha/contract";
import { jsonReply, type Reply } from "./reply.ts";

/** The session that an answer shows, as far as headers tell of it. */
interface Shown {
  sessionId: string;
  sequence: number;
}

const none = (): undefined => undefined;
const itself = (answer: unknown): Shown => answer as Shown;

/** Where each operation's answer holds a snapshot, if it does: a new operation needs a line here. */
const shownBy: Record<OperationName, (answer: unknown) => Shown | undefined> = {
  create: itself,
  restore: (answer) => (answer as { session: Shown }).session,
  append: none,
  run: none,
  resume: none,
  pause: itself,
  stop: itself,
  update: itself,
  complete: itself,
  fork: itself,
  delete: none,
  get: itself,
  list: none,
  history: itself,
  events: itself,
  subagentHistory: itself,
  subagentEvents: itself,
  messages: none,
  tail: none,
};

/** Answers what an operation gave, without an envelope. `sessions` is the path of the agent's sessions. */
export function toRestAnswer(operation: OperationName, answer: unknown, sessions: string): Reply {
  const status = statusOf(operation);
  if (status === 204) return { status, headers: {}, body: null };
  const shown = shownBy[operation](answer);
  const headers: Record<string, string> = {};
  if (shown) headers["etag"] = etag(shown.sequence);
  if (shown && status === 201) headers["location"] = `${sessions}/${encodeURIComponent(shown.sessionId)}`;
  return jsonReply(JSON.stringify(answer), status, headers);
}

/** Answers a page that is text already. */
export function toSplicedAnswer({ text, sequence }: { text: string; sequence: number }): Reply {
  return jsonReply(text, 200, { etag: etag(sequence) });
}

/** The status of an operation's success. */
export function statusOf(operation: OperationName): number {
  return contract[operation]["~orpc"].route.successStatus ?? 200;
}

/** Tells whether the operation's answer comes with an `ETag`. */
export function hasEtag(operation: OperationName): boolean {
  return shownBy[operation] !== none;
}

function etag(sequence: number): string {
  return `"${sequence}"`;
}
