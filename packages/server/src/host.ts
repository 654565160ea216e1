import { OrchaError } from "@orcha/contract";
import { toResponse } from "./failure.ts";

const loopbackHost = /^(localhost|127\.0\.0\.1|\[::1\])(:\d{1,5})?$/i;
const loopbackOrigin = /^https?:\/\/(localhost|127\.0\.0\.1|\[::1\])(:\d{1,5})?$/i;

/**
 * Refuses what a web page elsewhere sends to a server on loopback that asks for no token. A browser on this machine
 * reaches it too: under a name of the page's own that leads to 127.0.0.1 (DNS rebinding), or from the page's origin.
 */
export function refuseStrangers({ headers }: Request): Response | undefined {
  const origin = headers.get("origin");
  if (!loopbackHost.test(headers.get("host") ?? "")) {
    return forbidden("without auth this server answers only to localhost, 127.0.0.1 and [::1], and the Host header names another");
  }
  if (origin === null || loopbackOrigin.test(origin)) return undefined;
  return forbidden("without auth this server answers only pages of this machine, and the Origin header names another");
}

function forbidden(message: string): Response {
  return toResponse(new OrchaError("forbidden", message));
}
