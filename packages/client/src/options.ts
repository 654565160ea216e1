import type { Agents } from "@orcha/contract";

/** A value, or a function that is asked for it at every attempt. */
export type Asked<T> = T | (() => T | Promise<T>);

/** How calls are repeated that failed in a way that may pass. */
export interface RetryOptions {
  /** All attempts, the first one included; 3 by default. */
  attempts?: number;
  /** The shortest wait between two attempts; 200 by default. */
  minDelayMs?: number;
  /** The longest wait that backing off reaches; 5000 by default. A server that asks for more gets up to six times it. */
  maxDelayMs?: number;
}

/** Where the server is, and how to talk to it. */
export interface OrchaOptions<A = unknown> {
  /** The server's address, such as `https://agents.example.com`; `/rpc` is added. */
  baseUrl: string;
  /** Sent as `Authorization: Bearer …`. A function is asked at every attempt, and again where it fails; undefined sends none. */
  token?: Asked<string | undefined>;
  /** More headers for every request. */
  headers?: Asked<Record<string, string>>;
  /** Used in place of the global `fetch`; called with an address and plain options. */
  fetch?: typeof globalThis.fetch;
  /** Whether answers can be read as they come. Found out by default, and believed of a `fetch` that is given; without, tails and runs come piece by piece. */
  streams?: boolean;
  /** How long one attempt may take; 30,000 by default, `Infinity` for no limit. */
  timeoutMs?: number;
  retry?: RetryOptions | false;
  /** The definitions at run time: with them, the arguments in a history are verified. */
  agents?: A & Agents;
}

/** Options with every default filled in. */
export interface Settings {
  rpcUrl: string;
  token: Asked<string | undefined>;
  headers: Asked<Record<string, string>>;
  fetch: typeof globalThis.fetch;
  isOwnFetch: boolean;
  streams: boolean;
  timeoutMs: number;
  retry: Required<RetryOptions>;
  agents: Agents | undefined;
}

/** The longest delay that timers keep. */
const maxTimeoutMs = 2_147_483_647;

/** Checks options and fills in the defaults. Throws a `TypeError` that names the first fault. */
export function readOptions(options: OrchaOptions): Settings {
  if (typeof options !== "object" || options === null) refuse("options", "must be an object with a baseUrl");
  const { baseUrl, token, headers = {}, fetch, timeoutMs = 30_000, agents } = options;
  if (token !== undefined && typeof token !== "function" && !isToken(token)) {
    // The value is a secret: it stays out of the message.
    refuse("token", "must be visible ASCII characters, or a function that gives them");
  }
  if (headers === null || (typeof headers !== "object" && typeof headers !== "function")) {
    refuse("headers", "must be an object of strings, or a function that gives one");
  }
  if (fetch !== undefined && typeof fetch !== "function") refuse("fetch", "must be a function");
  if (!(timeoutMs > 0 && (timeoutMs <= maxTimeoutMs || timeoutMs === Infinity))) {
    refuse("timeoutMs", `must be from 1 to ${maxTimeoutMs}, or Infinity`);
  }
  if (agents !== undefined && (typeof agents !== "object" || agents === null)) {
    refuse("agents", "must be what defineAgents() gives");
  }
  return {
    rpcUrl: readBaseUrl(baseUrl),
    token,
    headers,
    // Looked up at every call, so that what replaces the global later is used too.
    fetch: fetch ?? ((...request) => globalThis.fetch(...request)),
    isOwnFetch: fetch !== undefined,
    // React Native's own fetch gives bodies whole, and its responses have none.
    streams: options.streams ?? (fetch !== undefined || "body" in Response.prototype),
    timeoutMs,
    retry: readRetry(options.retry),
    agents,
  };
}

/** Tells whether a header can carry the token. */
export function isToken(token: unknown): token is string {
  return typeof token === "string" && /^[!-~]+$/.test(token);
}

function readBaseUrl(baseUrl: string): string {
  let url: URL;
  try {
    url = new URL(baseUrl);
  } catch {
    return refuse("baseUrl", `must be a whole URL, such as "http://localhost:3000", not ${JSON.stringify(baseUrl)}`);
  }
  if (url.username !== "" || url.password !== "") refuse("baseUrl", "must not hold a user name or a password; use token");
  if (!/^https?:$/.test(url.protocol)) refuse("baseUrl", `must begin with http:// or https://, unlike ${JSON.stringify(baseUrl)}`);
  if (url.search + url.hash !== "") refuse("baseUrl", "must not have a query or a fragment");
  return `${url.href.replace(/\/+$/, "")}/rpc`;
}

function readRetry(retry: OrchaOptions["retry"]): Required<RetryOptions> {
  const { attempts = 3, minDelayMs = 200, maxDelayMs = 5000 } = retry === false ? { attempts: 1 } : (retry ?? {});
  if (!(Number.isInteger(attempts) && attempts >= 1)) refuse("retry.attempts", "must be an integer of 1 or more");
  if (!(minDelayMs >= 0 && minDelayMs <= maxTimeoutMs)) refuse("retry.minDelayMs", "must be 0 or more");
  if (!(maxDelayMs >= minDelayMs && maxDelayMs <= maxTimeoutMs)) refuse("retry.maxDelayMs", "must be minDelayMs or more");
  return { attempts, minDelayMs, maxDelayMs };
}

function refuse(option: string, reason: string): never {
  throw new TypeError(`createOrcha: ${option} ${reason}`);
}
