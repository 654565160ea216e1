import type { Reply } from "./reply.ts";
import type { Surroundings } from "./surroundings.ts";

/** Below this many characters an answer fits into one packet as it is. */
const leastLength = 1024;

/** Answers that are texts and whole; a stream of events must leave as it is made. */
const compressible = /^(application\/json|text\/(html|css))\s*(;|$)/;

/**
 * Gzips an answer for a caller who takes it so. What is compressed already, what is short, and what is a stream of events
 * stays as it is.
 */
export async function compressFor(request: Request, answer: Reply | Response, surroundings: Pick<Surroundings, "gzip">): Promise<Reply | Response> {
  const takes = takesGzip(request.headers.get("accept-encoding"));
  if (!(answer instanceof Response)) {
    const varied = { ...answer, headers: { ...answer.headers, vary: "accept-encoding" } };
    return takes ? compress(varied, surroundings) : varied;
  }
  if (!isWhole(answer)) return answer;
  answer.headers.append("vary", "accept-encoding");
  return takes ? compress(await replyOf(answer), surroundings) : answer;
}

async function compress(reply: Reply, surroundings: Pick<Surroundings, "gzip">): Promise<Reply> {
  const { status, headers, body } = reply;
  if (typeof body !== "string" || body.length < leastLength || !compressible.test(headers["content-type"] ?? "")) return reply;
  const changed: Record<string, string> = { ...headers, "content-encoding": "gzip" };
  // Other bytes, another tag: a weak one could not go back as `If-Match`.
  if (changed["etag"] !== undefined) changed["etag"] = changed["etag"].replace(/"$/, '-gzip"');
  return { status, headers: changed, body: await surroundings.gzip(body) };
}

function isWhole({ headers }: Response): boolean {
  return compressible.test(headers.get("content-type") ?? "") && !headers.has("content-encoding");
}

async function replyOf(response: Response): Promise<Reply> {
  // The length of the text is not that of its bytes when they are compressed.
  const { "content-length": _length, ...headers } = Object.fromEntries(response.headers);
  return { status: response.status, headers, body: await response.text() };
}

/** Tells whether an `Accept-Encoding` takes gzip: by its name, or by `*` where it isn't named. */
function takesGzip(accept: string | null): boolean {
  if (accept === null) return false;
  let star = false;
  for (const part of accept.toLowerCase().split(",")) {
    const [coding = "", ...parameters] = part.split(";").map((text) => text.trim());
    const isTaken = !parameters.some((parameter) => /^q\s*=\s*0(\.0*)?$/.test(parameter));
    if (coding === "gzip" || coding === "x-gzip") return isTaken;
    if (coding === "*") star = isTaken;
  }
  return star;
}
