import { http, type HttpHandler } from "msw/http";
import { restPaths } from "./operation.ts";

/** Answers a request that was sent to an Orcha server; `url` is the server's own. */
export type Handle = (url: URL, request: Request) => Promise<Response>;

/** Makes msw handlers of everything that a server serves: RPC and REST, at one address or at any. */
export function createHandlers(handle: Handle, baseUrl: string): HttpHandler[] {
  const base = baseUrl.replace(/\/+$/, "");
  return ["/rpc/:operation", ...restPaths].map((path) => {
    const root = path.slice(0, path.indexOf("/", 1) + 1);
    return http.all(`${base}${path}`, ({ request }) => {
      const { pathname, search } = new URL(request.url);
      return handle(new URL(pathname.slice(pathname.lastIndexOf(root)) + search, "http://orcha.test"), request);
    });
  });
}
