import { maxBodyBytes, OrchaError } from "@orcha/contract";
import type { Context } from "hono";
import { readAway } from "./body-source.ts";
import { isBodiless, whole } from "./gate.ts";

/** Throws `payload_too_large` for a body that is. One that doesn't tell its length is read to the end, or to the limit. */
export async function limitBody(context: Context): Promise<void> {
  const { method, headers } = context.req.raw;
  if (isBodiless(method)) return;
  // HTTP keeps a body to the length that it tells; asking Node's adapter for the body itself costs more than a read.
  const length = headers.get("content-length");
  if (length === null || headers.has("transfer-encoding")) await whole(gather(context));
  else if (Number.parseInt(length, 10) > maxBodyBytes) throw tooLarge();
}

/** Reads a body that doesn't tell its length, as far as the limit, and hands the request on with it. */
async function gather(context: Context): Promise<void> {
  const { raw } = context.req;
  const reader = raw.body?.getReader();
  if (!reader) return;
  // Grows in its place: a caller may send a byte at a time.
  const room = new ArrayBuffer(0, { maxByteLength: maxBodyBytes });
  for (let next = await reader.read(); !next.done; next = await reader.read()) {
    const size = room.byteLength + next.value.length;
    if (size > maxBodyBytes) {
      void readAway(reader);
      throw tooLarge();
    }
    room.resize(size);
    new Uint8Array(room).set(next.value, size - next.value.length);
  }
  context.req.raw = new Request(raw, { method: raw.method, body: room.slice() });
}

function tooLarge(): OrchaError {
  return new OrchaError("payload_too_large", `a request body may have ${maxBodyBytes} bytes`, { details: { limit: maxBodyBytes } });
}
