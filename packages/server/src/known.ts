import { tagAsSent } from "./entity-tag.ts";
import type { Reply } from "./reply.ts";

/**
 * Answers 304, without the body, where the caller has it already. A session's sequence moves with everything that its
 * answers show, so the same path with the same tag is the same answer.
 */
export function unlessKnown({ method, headers }: Request, answer: Reply | Response): Reply | Response {
  if ((method !== "GET" && method !== "HEAD") || answer instanceof Response || answer.status !== 200) return answer;
  const { etag } = answer.headers;
  if (etag === undefined || !isNamed(headers.get("if-none-match"), etag)) return answer;
  return { status: 304, headers: { etag }, body: null };
}

/** Whether a list of tags names this one. */
function isNamed(tags: string | null, etag: string): boolean {
  if (tags === null) return false;
  return tags.trim() === "*" || tags.split(",").some((tag) => tagAsSent(tag) === etag);
}
