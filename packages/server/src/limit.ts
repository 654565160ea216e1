import { maxBodyBytes, OrchaError } from "@orcha/contract";
import type { Context } from "hono";
import { bodyLimit } from "hono/body-limit";
import { isBodiless, whole } from "./gate.ts";

const counted = bodyLimit({
  maxSize: maxBodyBytes,
  onError: () => {
    throw tooLarge();
  },
});

/** Throws `payload_too_large` for a body that is. One that doesn't tell its length is read to the end, or to the limit. */
export async function limitBody(context: Context): Promise<void> {
  const { method, headers } = context.req.raw;
  if (isBodiless(method)) return;
  // HTTP keeps a body to the length that it tells; asking Node's adapter for the body itself costs more than a read.
  const length = headers.get("content-length");
  if (length === null || headers.has("transfer-encoding")) await whole(counted(context, async () => {}));
  else if (Number.parseInt(length, 10) > maxBodyBytes) throw tooLarge();
}

function tooLarge(): OrchaError {
  return new OrchaError("payload_too_large", `a request body may have ${maxBodyBytes} bytes`, { details: { limit: maxBodyBytes } });
}
