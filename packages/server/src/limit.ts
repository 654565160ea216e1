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
  let room: Uint8Array = new Uint8Array(0);
  let size = 0;
  for (let next = await reader.read(); !next.done; next = await reader.read()) {
    const needed = size + next.value.length;
    if (needed > maxBodyBytes) {
      void readAway(reader);
      throw tooLarge();
    }
    room = roomFor(needed, room);
    room.set(next.value, size);
    size = needed;
  }
  context.req.raw = new Request(raw, { method: raw.method, body: room.slice(0, size) });
}

/** Most bodies come in one piece; for one that comes byte by byte the room doubles. */
function roomFor(size: number, room: Uint8Array): Uint8Array {
  if (size <= room.length) return room;
  const larger = new Uint8Array(room.length === 0 ? size : Math.min(maxBodyBytes, size * 2));
  larger.set(room);
  return larger;
}

function tooLarge(): OrchaError {
  return new OrchaError("payload_too_large", `a request body may have ${maxBodyBytes} bytes`, { details: { limit: maxBodyBytes } });
}
