import { APICallError } from "@ai-sdk/provider";
import { isPlainObject, type EventError } from "@orcha/contract";
import type { ModelName } from "./capsule.ts";
import { redact } from "./redact.ts";

/** Why a model call failed, and whether it may be made again. */
export interface ProviderFailure {
  message: string;
  retryable: boolean;
  statusCode?: number;
  /** Milliseconds that the provider asks to wait. */
  retryAfterMs?: number;
}

/** The longest wait that a provider may ask for, in milliseconds. */
const longestWait = 60_000;
const firstWait = 500;

/** What Node, browsers and undici say when a connection breaks. */
const networkFaults = /^(ECONN|EPIPE|ETIMEDOUT|ENOTFOUND|EAI_AGAIN|UND_ERR_)/;
const networkMessages = /fetch failed|terminated|network|load failed|socket hang up|other side closed/i;

/** What servers call a fault of their own, or a limit that passes, where an error comes in the stream. */
const passingTypes = /server_?error|overloaded|rate_?limit|unavailable|timeout/i;

/** Reads what a model call threw, or what came as an error in its stream. `secrets` never show in the message. */
export function failureOf(error: unknown, secrets: readonly string[], now: number): ProviderFailure {
  const facts: Record<string, unknown> = typeof error === "object" && error !== null ? { ...error } : {};
  const statusCode = facts["statusCode"];
  const wait = APICallError.isInstance(error) ? retryAfterMs(error.responseHeaders ?? {}, now) : undefined;
  return {
    message: redact(messageOf(error), secrets),
    retryable: typeof facts["isRetryable"] === "boolean" ? facts["isRetryable"] : isNetworkFault(error) || isCut(error) || mayPass(error),
    ...(typeof statusCode === "number" ? { statusCode } : {}),
    ...(wait === undefined ? {} : { retryAfterMs: wait }),
  };
}

/** Says a failure as the log does. */
export function providerError(failure: Omit<ProviderFailure, "retryAfterMs">, { provider, modelId }: ModelName): EventError {
  const { message, retryable, statusCode } = failure;
  return {
    code: "provider_error",
    message,
    retryable,
    details: { ...(statusCode === undefined ? {} : { statusCode }), provider, model: modelId },
  };
}

/** How long to wait before a call is made again: as the provider says, else twice as long each time, spread by chance. */
export function waitBefore(retry: number, failure: ProviderFailure): number {
  if (failure.retryAfterMs !== undefined) return Math.min(failure.retryAfterMs, longestWait);
  return firstWait * 2 ** (retry - 1) * (0.75 + Math.random() / 2);
}

function messageOf(error: unknown): string {
  const message = error instanceof Error || isPlainObject(error) ? error.message : error;
  return typeof message === "string" && message.trim() !== "" ? message : "the model call failed without a message";
}

function retryAfterMs(headers: Record<string, string>, now: number): number | undefined {
  const byName = new Map(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value.trim()]));
  const ms = Number(byName.get("retry-after-ms") ?? Number.NaN);
  if (ms >= 0) return ms;
  const after = byName.get("retry-after");
  if (after === undefined || after === "") return undefined;
  const seconds = Number(after);
  const wait = Number.isNaN(seconds) ? Date.parse(after) - now : seconds * 1000;
  return wait >= 0 ? wait : undefined;
}

function isNetworkFault(error: unknown, depth = 0): boolean {
  if (!(error instanceof Error) || depth > 3) return false;
  if ("code" in error && typeof error.code === "string" && networkFaults.test(error.code)) return true;
  if (error.name === "TypeError" && networkMessages.test(error.message)) return true;
  return isNetworkFault(error.cause, depth + 1);
}

/** Some packages say of an answer that ended before its end that data isn't there. By its name, since its class is large. */
function isCut(error: unknown): boolean {
  return error instanceof Error && error.name === "AI_InvalidResponseDataError" && "data" in error && error.data === undefined;
}

/** Some packages hand on what the server wrote into its stream, and say nothing of it themselves. */
function mayPass(error: unknown): boolean {
  if (!isPlainObject(error)) return false;
  const { code, type } = error;
  const status = Number(code);
  return status === 408 || status === 429 || (status >= 500 && status < 600) || [code, type].some((word) => typeof word === "string" && passingTypes.test(word));
}
