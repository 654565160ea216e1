import type { Reply } from "./reply.ts";

/** The version of the protocol that this server speaks. */
export const protocolVersion = "1";

/** What every answer carries, unless it says otherwise. Answers hold conversations, and depend on who asks. */
const common: Readonly<Record<string, string>> = {
  "orcha-version": protocolVersion,
  "cache-control": "no-store",
  "content-security-policy": "default-src 'none'; frame-ancestors 'none'",
  "referrer-policy": "no-referrer",
  "x-content-type-options": "nosniff",
};

/** The name that a request brings along: 1 to 128 visible ASCII characters. Anything else is as good as none. */
export function requestIdOf({ headers }: Request): string | undefined {
  const id = headers.get("x-request-id");
  return id !== null && /^[\x21-\x7e]{1,128}$/.test(id) ? id : undefined;
}

/** Sends an answer off, with what every answer carries. */
export function sign(answer: Reply | Response, requestId: string): Response {
  if (!(answer instanceof Response)) {
    const { status, headers, body } = answer;
    return new Response(body, { status, headers: { ...common, "x-request-id": requestId, ...headers } });
  }
  // In place: a new `Response` around the old one would be written as a stream.
  for (const [name, value] of Object.entries(common)) if (!answer.headers.has(name)) answer.headers.set(name, value);
  answer.headers.set("x-request-id", requestId);
  return answer;
}
