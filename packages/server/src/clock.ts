/** What a server takes from its surroundings, so that tests can stand still. */
export interface Surroundings {
  /** Milliseconds since 1970. */
  now(): number;
  /** A new session id. */
  sessionId(): string;
}

/** The real clock, and ids that are a ULID behind `ses_`: they sort by the time they were made. */
export const surroundings: Surroundings = {
  now: () => Date.now(),
  sessionId: () => `ses_${ulid(Date.now())}`,
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
