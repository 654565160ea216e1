import { invalidInput, OrchaError, type OperationMeta } from "@orcha/contract";
import { authorise, type Authenticate } from "./auth.ts";
import type { Call } from "./call.ts";
import { tagAsSent } from "./entity-tag.ts";

/** Lets a request in, before anything of its input is read: who calls, with which scope, with what kind of body. */
export async function admit(auth: Authenticate, request: Request, { scope, orScope }: OperationMeta): Promise<Call> {
  const principal = await authorise(auth, request, scope, orScope);
  checkContentType(request);
  return { principal, ...readHeaders(request.headers) };
}

/** Tells whether requests of this method come without a body. */
export function isBodiless(method: string): boolean {
  return method === "GET" || method === "HEAD";
}

/**
 * Reads a JSON body; nothing where it is empty. Throws `invalid_input`, `unsupported_format` for another type, and
 * `aborted` where it breaks off.
 */
export async function readJson(request: Request): Promise<unknown> {
  const text = await whole(request.text());
  if (text === "") return undefined;
  if (!isJson(request.headers)) throw unsupported();
  try {
    return JSON.parse(text);
  } catch (cause) {
    throw notJson(cause);
  }
}

/** Waits for a body. Throws `aborted` where it breaks off: that is nobody's fault, and nobody is left to be answered. */
export async function whole<T>(body: Promise<T>): Promise<T> {
  try {
    return await body;
  } catch (error) {
    if (error instanceof OrchaError || error instanceof SyntaxError) throw error;
    throw new OrchaError("aborted", "the caller went away before the end of the body", { cause: error });
  }
}

/** Says that a body could not be parsed. */
export function notJson(cause: unknown): OrchaError {
  return new OrchaError("invalid_input", "the body is not JSON", { cause });
}

/** Anything but JSON is refused; a form would also let other sites write through a browser. */
function checkContentType(request: Request): void {
  if (!isBodiless(request.method) && !isJson(request.headers) && !isEmpty(request)) throw unsupported();
}

function isJson(headers: Headers): boolean {
  return /^application\/json\s*(;|$)/i.test(headers.get("content-type") ?? "");
}

/**
 * Tells whether a request says that it has no body: Node's adapter gives it a stream all the same. A page's empty POST
 * doesn't count, since browsers send it to other sites without asking them first.
 */
function isEmpty({ method, body, headers }: Request): boolean {
  if (method === "POST" && headers.has("origin")) return false;
  if (body === null) return true;
  const untyped = !headers.has("content-type") && !headers.has("transfer-encoding");
  return untyped && (headers.get("content-length") ?? "0") === "0";
}

function unsupported(): OrchaError {
  return new OrchaError("unsupported_format", "the body must be application/json");
}

function readHeaders(headers: Headers): Omit<Call, "principal"> {
  const idempotencyKey = headers.get("idempotency-key") ?? undefined;
  const ifMatch = headers.get("if-match") ?? undefined;
  if (idempotencyKey !== undefined && !/^[\x21-\x7e]{1,255}$/.test(idempotencyKey)) {
    throw invalidInput(["idempotencyKey"], "must be 1 to 255 visible ASCII characters");
  }
  const sequence = ifMatch === undefined ? undefined : /^("?)([1-9]\d{0,14})\1$/.exec(tagAsSent(ifMatch))?.[2];
  if (ifMatch !== undefined && sequence === undefined) throw invalidInput(["ifSequence"], "must be a sequence, an integer from 1");
  return {
    ...(idempotencyKey === undefined ? {} : { idempotencyKey }),
    ...(sequence === undefined ? {} : { ifSequence: Number(sequence) }),
  };
}
