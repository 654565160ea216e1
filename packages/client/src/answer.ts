import type { ErrorDetails } from "@orcha/contract";
import { OrchaError, type OrchaErrorCode } from "./error.ts";
import { isPlainObject } from "./json.ts";

/**
 * Reads the envelope of a successful answer. Throws the `OrchaError` that the server sent, `network` where the answer
 * broke off or a gateway spoke for the server, and `unexpected` where something else than Orcha answered.
 */
export async function readAnswer(response: Response, mayBeEmpty: boolean): Promise<unknown> {
  const body = isJson(response) ? await readBody(response) : undefined;
  if (response.ok) {
    if (isPlainObject(body) && Object.hasOwn(body, "json")) return body["json"];
    if (mayBeEmpty && (response.status === 204 || isPlainObject(body))) return undefined;
  } else if (isPlainObject(body) && isWireError(body["json"])) {
    throw fromWire(body["json"], response);
  }
  throw fromElsewhere(response);
}

function isJson({ headers }: Response): boolean {
  const type = headers.get("content-type");
  return type === null || type.startsWith("application/json");
}

async function readBody(response: Response): Promise<unknown> {
  let text: string;
  try {
    text = await response.text();
  } catch (cause) {
    throw new OrchaError("network", "the answer was cut", { cause });
  }
  if (text === "") return undefined;
  try {
    return JSON.parse(text);
  } catch (cause) {
    throw fromElsewhere(response, cause);
  }
}

/** An error as it travels; the code of a newer server is what `Unlisted` stands for. */
interface WireError {
  code: OrchaErrorCode;
  message: string;
  data?: unknown;
}

function isWireError(value: unknown): value is WireError {
  return isPlainObject(value) && typeof value["code"] === "string" && typeof value["message"] === "string";
}

function fromWire({ code, message, data }: WireError, { status, headers }: Response): OrchaError {
  const { retryable, details } = isPlainObject(data) ? data : {};
  return new OrchaError(code, message, {
    retryable: retryable === true,
    status,
    details: withRetryAfter(isPlainObject(details) ? details : undefined, headers),
  });
}

function fromElsewhere({ status, headers }: Response, cause?: unknown): OrchaError {
  const details = withRetryAfter(undefined, headers);
  // While the server behind it restarts or is too far away: each has a number of its own for that, of a development server to a CDN.
  if (status >= 500 || status === 429) {
    return new OrchaError("network", `a gateway answered ${status} in place of the server`, { details, cause });
  }
  const message = `the answer (status ${status}) is not Orcha's; check baseUrl, and what stands before the server`;
  return new OrchaError("unexpected", message, { cause });
}

/** Adds what the Retry-After header says, where the details don't say it themselves. */
function withRetryAfter(details: ErrorDetails | undefined, headers: Headers): ErrorDetails | undefined {
  const header = headers.get("retry-after");
  if (header === null || details?.["retryAfterMs"] !== undefined) return details;
  const retryAfterMs = /^\d+$/.test(header) ? Number(header) * 1000 : Date.parse(header) - Date.now();
  return Number.isNaN(retryAfterMs) ? details : { ...details, retryAfterMs: Math.max(0, retryAfterMs) };
}
