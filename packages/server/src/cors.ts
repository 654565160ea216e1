import type { MiddlewareHandler } from "hono";
import { cors } from "hono/cors";

/** Which pages of other origins may call. */
export interface CorsOptions {
  /** Such as `https://app.example.com`; `["*"]` lets every page call that has a token. */
  origins: readonly string[];
}

/** Lets browsers' pages of other origins call. Throws a `TypeError` where an origin isn't one. */
export function crossOrigin({ origins }: CorsOptions): MiddlewareHandler {
  for (const [index, origin] of origins.entries()) checkOrigin(origin, index);
  return cors({
    origin: origins.includes("*") ? "*" : [...origins],
    allowMethods: ["GET", "HEAD", "POST", "PATCH", "DELETE"],
    allowHeaders: ["authorization", "content-type", "idempotency-key", "if-match", "if-none-match", "last-event-id", "x-request-id"],
    exposeHeaders: ["etag", "location", "orcha-version", "x-request-id", "retry-after"],
    maxAge: 600,
  });
}

function checkOrigin(origin: string, index: number): void {
  if (origin === "*") return;
  const url = URL.canParse(origin) ? new URL(origin) : undefined;
  if (url?.origin === origin && origin !== "null") return;
  throw new TypeError(`cors.origins[${index}] must be an origin such as https://app.example.com, or *; it is ${JSON.stringify(origin)}`);
}
