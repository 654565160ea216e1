import type { IncomingMessage } from "node:http";
import type { ServerType } from "@hono/node-server";

/** How long a body may take, in milliseconds. Node has the same limit, but for all requests of a server alike. */
const bodyMs = 300_000;

/** What Node is told instead; its own limit for headers would go with the one for requests. */
export const nodeTimes = { requestTimeout: 0, headersTimeout: 60_000 };

/** Cuts off whoever takes too long to send a body. A file to import may take as long as it keeps coming. */
export function limitBodyTime(server: ServerType): void {
  server.on("request", (request: IncomingMessage) => {
    const { headers, url = "" } = request;
    const hasBody = headers["content-length"] !== undefined || headers["transfer-encoding"] !== undefined;
    if (!hasBody || /^\/api\/import(\?|$)/.test(url)) return;
    const { socket } = request;
    const timer = setTimeout(() => socket.destroy(), bodyMs);
    // A request that was answered before its end, by somebody who then leaves, is never closed: only its socket is.
    request.once("close", end);
    socket.once("close", end);

    function end(): void {
      clearTimeout(timer);
      request.off("close", end);
      socket.off("close", end);
    }
  });
}
