/**
 * An answer before it is a `Response`: Node's adapter writes one that is made once, of a text and plain headers, without
 * building `Headers` or a stream.
 */
export interface Reply {
  status: number;
  headers: Readonly<Record<string, string>>;
  /** Bytes where a text was compressed. */
  body: string | Uint8Array<ArrayBuffer> | null;
}

/** Answers JSON that is text already. */
export function jsonReply(body: string, status = 200, headers: Readonly<Record<string, string>> = {}): Reply {
  return { status, headers: { "content-type": "application/json", ...headers }, body };
}
