/** What a server takes from its surroundings, so that tests can stand still. */
export interface Surroundings {
  /** Milliseconds since 1970. */
  now(): number;
  /** A new session id. */
  sessionId(): string;
  /** A name for a request that brings none, for logs and for people who ask for help. */
  requestId(): string;
  /** SHA-256 of a text, in hexadecimal digits. */
  digest(text: string): string | Promise<string>;
  /** A text in UTF-8, compressed by gzip. */
  gzip(text: string): Uint8Array<ArrayBuffer> | Promise<Uint8Array<ArrayBuffer>>;
}

/** The real clock, WebCrypto, compression streams, and ids that are a ULID behind `ses_`: they sort by the time they were made. */
export const surroundings: Surroundings = {
  now: () => Date.now(),
  sessionId: () => `ses_${ulid(Date.now())}`,
  requestId: () => crypto.randomUUID(),
  digest: sha256,
  gzip: compressed,
};

const crockford = "0123456789ABCDEFGHJKMNPQRSTVWXYZ";

/** 10 characters of milliseconds and 16 of chance (https://github.com/ulid/spec). */
function ulid(now: number): string {
  let time = "";
  for (let rest = now; time.length < 10; rest = Math.floor(rest / 32)) time = crockford.charAt(rest % 32) + time;
  let chance = "";
  for (const byte of crypto.getRandomValues(new Uint8Array(16))) chance += crockford.charAt(byte % 32);
  return time + chance;
}

async function sha256(text: string): Promise<string> {
  const bytes = await crypto.subtle.digest("SHA-256", new TextEncoder().encode(text));
  return Array.from(new Uint8Array(bytes), (byte) => byte.toString(16).padStart(2, "0")).join("");
}

async function compressed(text: string): Promise<Uint8Array<ArrayBuffer>> {
  const stream = new Blob([text]).stream().pipeThrough(new CompressionStream("gzip"));
  return new Uint8Array(await new Response(stream).arrayBuffer());
}
