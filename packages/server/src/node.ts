import { hash } from "node:crypto";
import { promisify } from "node:util";
import { gzip, gzipSync, type ZlibOptions } from "node:zlib";
import { serve as listen, type HttpBindings, type ServerType } from "@hono/node-server";
import type { Agents } from "@orcha/contract";
import { createService, type AppOptions } from "./app.ts";
import { limitBodyTime, nodeTimes } from "./body-time.ts";
import { refuseStrangers } from "./host.ts";
import type { Surroundings } from "./surroundings.ts";

/** Of a page a fifth is left, and a smaller window costs a hundredth of that: its memory is what takes the time. */
const small = { level: 1, windowBits: 13, memLevel: 7, chunkSize: 8192 };

/** Longer texts, in characters, would hold up other requests: a thread compresses them. */
const longest = 65_536;
const gzipApart = promisify<string, ZlibOptions, Buffer<ArrayBuffer>>(gzip);

/** Node's own digest and compression: WebCrypto and streams go through the thread pool, which costs more than the work. */
export const nodeSurroundings: Partial<Surroundings> = {
  digest: (text) => hash("sha256", text, "hex"),
  gzip: (text) => (text.length > longest ? gzipApart(text, { level: 1 }) : gzipSync(text, small)),
};

/** Where a server listens. */
export interface ServeOptions<A extends Agents = Agents> extends AppOptions<A> {
  /** Default 4310; 0 takes any free port. */
  port?: number;
  /** Default 127.0.0.1. Without `auth` only loopback addresses are accepted, and only requests that name one as host. */
  hostname?: string;
  /** How long `close()` lets runs and open requests finish, in milliseconds; default 10,000. */
  drainMs?: number;
}

/** A server that listens. */
export interface OrchaServer {
  /** Such as `http://127.0.0.1:4310`. */
  url: string;
  port: number;
  /**
   * Takes no new runs and connections, lets what is open finish, hands over runs that don't, and closes the store. Safe
   * to call twice.
   */
  close(): Promise<void>;
}

const loopback = ["127.0.0.1", "::1", "localhost"];

/**
 * Serves agents' sessions over HTTP on Node. Throws where the port is taken, and where others than this machine could
 * reach a server without `auth`.
 */
export async function serve<A extends Agents>(options: ServeOptions<A>): Promise<OrchaServer> {
  const { port = 4310, hostname = "127.0.0.1", drainMs = 10_000, ...parts } = options;
  if (!parts.auth && !loopback.includes(hostname)) {
    throw new TypeError(`without auth a server listens on loopback only (127.0.0.1, ::1 or localhost), not on ${hostname}`);
  }
  const service = createService({ ...parts, surroundings: { ...nodeSurroundings, ...parts.surroundings } }, { isFar });
  const { app } = service;
  const fetch: typeof app.fetch = parts.auth
    ? app.fetch
    : (request, env) => refuseStrangers(request) ?? app.fetch(request, env);
  const { server, actual } = await open((found) => listen({ fetch, port, hostname, serverOptions: nodeTimes }, found));
  limitBodyTime(server);
  service.start();
  let closing: Promise<void> | undefined;
  async function close(): Promise<void> {
    await Promise.all([drain(server, drainMs), service.drain(drainMs / 2)]);
    await parts.store.close();
  }
  return {
    url: `http://${hostname.includes(":") ? `[${hostname}]` : hostname}:${actual}`,
    port: actual,
    close: () => (closing ??= close()),
  };
}

const near = /^(::1$|f[cd]|fe80:|(::ffff:)?(127|10|192\.168|172\.(1[6-9]|2\d|3[01]))\.)/;

/**
 * Tells whether an answer goes over a network that is slow enough: on this machine or to one beside it, compressing takes
 * longer than it saves. A proxy there says for whom it asks.
 */
function isFar({ headers }: Request, env: unknown): boolean {
  const { incoming } = env as HttpBindings;
  const { remoteAddress } = incoming.socket;
  return headers.has("x-forwarded-for") || (remoteAddress !== undefined && !near.test(remoteAddress));
}

function open(
  start: (found: (info: { port: number }) => void) => ServerType,
): Promise<{ server: ServerType; actual: number }> {
  return new Promise((resolve, reject) => {
    const server = start(({ port }) => {
      server.off("error", reject);
      resolve({ server, actual: port });
    });
    server.once("error", reject);
  });
}

function drain(server: ServerType, drainMs: number): Promise<void> {
  return new Promise((resolve, reject) => {
    const force = setTimeout(() => {
      if ("closeAllConnections" in server) server.closeAllConnections();
    }, drainMs);
    // A connection whose last answer ends now would be kept for some seconds, for a request that is refused.
    const idle = setInterval(closeIdle, 50);
    server.close((error) => {
      clearInterval(idle);
      clearTimeout(force);
      if (error) reject(error);
      else resolve();
    });
    closeIdle();

    function closeIdle(): void {
      if ("closeIdleConnections" in server) server.closeIdleConnections();
    }
  });
}
