import { http, type HttpHandler } from "msw/http";
import { restPaths } from "./operation.ts";

/** Answers a request that was sent to an Orcha server; `url` is the server's own. */
export type Handle = (url: URL, request: Request) => Promise<Response>;

/** Makes msw handlers of everything that a server serves: RPC and REST, at one address or at any. */
export function createHandlers(handle: Handle, baseUrl: string): HttpHandler[] {
  const base = baseUrl.replace(/\/+$/, "");
  // The longer ones first: the id of a session may be "rpc".
  return [...restPaths, "/rpc/:operation"].map((path) => {
    const length = path.split("/").length - 1;
    return http.all(`${base}${path}`, ({ request }) => {
      const { pathname, search } = new URL(request.url);
      // What stands before the server's own path is where the app found it.
      const own = pathname.split("/").slice(-length).join("/");
      return handle(new URL(`/${own}${search}`, "http://orcha.test"), request);
    });
  });
}
