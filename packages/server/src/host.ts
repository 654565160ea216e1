import { OrchaError } from "@orcha/contract";
import { isRest, toProblem, toResponse } from "./failure.ts";
import { requestIdOf, sign } from "./headers.ts";

const loopbackHost = /^(localhost|127\.0\.0\.1|\[::1\])(:\d{1,5})?$/i;
const loopbackOrigin = /^https?:\/\/(localhost|127\.0\.0\.1|\[::1\])(:\d{1,5})?$/i;

/**
 * Refuses what a web page elsewhere sends to a server on loopback that asks for no token. A browser on this machine
 * reaches it too: under a name of the page's own that leads to 127.0.0.1 (DNS rebinding), or from the page's origin.
 */
export function refuseStrangers(request: Request): Response | undefined {
  const { headers } = request;
  const origin = headers.get("origin");
  if (!loopbackHost.test(headers.get("host") ?? "")) {
    return forbidden(request, "without auth this server answers only to localhost, 127.0.0.1 and [::1], and the Host header names another");
  }
  if (origin === null || loopbackOrigin.test(origin)) return undefined;
  return forbidden(request, "without auth this server answers only pages of this machine, and the Origin header names another");
}

function forbidden(request: Request, message: string): Response {
  const answer = isRest(new URL(request.url).pathname) ? toProblem : toResponse;
  return sign(answer(new OrchaError("forbidden", message)), requestIdOf(request) ?? crypto.randomUUID());
}
