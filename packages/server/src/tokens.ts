import type { Scope } from "@orcha/contract";
import { principalFault, type Authenticate, type Principal } from "./auth.ts";

/** A token of the configuration, as itself or as its SHA-256 in 64 hexadecimal digits, and whom it stands for. */
export type BearerToken = { tenant: string; subject?: string; scopes: readonly Scope[] } & (
  | { token: string; sha256?: undefined }
  | { sha256: string; token?: undefined }
);

/** 32 bytes of SHA-256. */
type Digest = Uint8Array;

interface KnownToken<D = Digest> {
  digest: D;
  principal: Principal;
}

/**
 * Knows callers by `Authorization: Bearer <token>`. Throws a `TypeError` that names the entry and the field, never the
 * token, where the configuration can't be right.
 */
export function bearerTokens(tokens: readonly BearerToken[]): Authenticate {
  check(tokens);
  // Copied, so that nothing which later happens to the configuration reaches a caller's rights.
  const entries = tokens.map(({ token, sha256, tenant, subject, scopes }) => ({
    digest: token === undefined ? fromHex(sha256) : digestOf(token),
    principal: { tenant, subject, scopes: [...scopes] },
  }));
  const known = knownTokens(entries);
  // The failure is told at each request; until the first one nobody waits for it.
  known.catch(() => {});
  return async (request) => {
    const presented = tokenOf(request);
    return presented === undefined ? undefined : find(await known, await digestOf(presented));
  };
}

/** Every byte of every entry is looked at, so that the time taken says nothing about how near a guess came. */
function find(known: readonly KnownToken[], presented: Digest): Principal | undefined {
  let found: Principal | undefined;
  for (const { digest, principal } of known) {
    let difference = 0;
    for (const [index, byte] of digest.entries()) difference |= byte ^ (presented[index] ?? 0x100);
    if (difference === 0) found = principal;
  }
  return found;
}

/** A header that was sent twice arrives joined by a comma and a space, and is none. */
function tokenOf(request: Request): string | undefined {
  return /^bearer +([\x21-\x7e]+)$/i.exec(request.headers.get("authorization") ?? "")?.[1];
}

// WebCrypto digests asynchronously, so a token that stands beside its own SHA-256 is found here, not in `check`.
async function knownTokens(entries: readonly KnownToken<Digest | Promise<Digest>>[]): Promise<KnownToken[]> {
  const known = await Promise.all(entries.map(async ({ digest, principal }) => ({ digest: await digest, principal })));
  const again = repeated(known.map(({ digest }) => digest.join()));
  if (again !== -1) throw new TypeError(`bearerTokens: [${again}] is the same token as one before it`);
  return known;
}

function check(tokens: readonly BearerToken[]): void {
  if (!Array.isArray(tokens) || tokens.length === 0) throw new TypeError("bearerTokens: needs a list of at least one token");
  for (const [index, entry] of tokens.entries()) {
    const fault = entryFault(entry);
    if (fault !== undefined) throw new TypeError(`bearerTokens: [${index}]${fault}`);
  }
  const again = repeated(tokens.map(({ token, sha256 }: BearerToken) => token ?? sha256.toLowerCase()));
  if (again !== -1) {
    const field = tokens[again]?.token === undefined ? "sha256" : "token";
    throw new TypeError(`bearerTokens: [${again}].${field} is the same token as one before it`);
  }
}

/** Configuration often comes from a file or the environment, where types promise nothing. */
function entryFault(entry: unknown): string | undefined {
  if (typeof entry !== "object" || entry === null) return " is not an object";
  const { token, sha256, ...principal }: { [K in "token" | "sha256" | keyof Principal]?: unknown } = entry;
  if (token === undefined && sha256 === undefined) return " needs a token or its sha256";
  if (token !== undefined && sha256 !== undefined) return " has both token and sha256";
  if (token !== undefined && !matches(token, /^[\x21-\x7e]{16,}$/)) {
    return ".token must be at least 16 visible ASCII characters, without spaces";
  }
  if (sha256 !== undefined && !matches(sha256, /^[\da-f]{64}$/i)) return ".sha256 must be 64 hexadecimal digits";
  const fault = principalFault(principal);
  if (fault !== undefined) return `.${fault}`;
  return Array.isArray(principal.scopes) && principal.scopes.length === 0 ? ".scopes is empty" : undefined;
}

function matches(value: unknown, pattern: RegExp): boolean {
  return typeof value === "string" && pattern.test(value);
}

/** The place of the first value that stands earlier too, or -1. */
function repeated(values: readonly string[]): number {
  return values.findIndex((value, index) => values.indexOf(value) < index);
}

async function digestOf(token: string): Promise<Digest> {
  return new Uint8Array(await crypto.subtle.digest("SHA-256", new TextEncoder().encode(token)));
}

function fromHex(digits: string): Digest {
  return Uint8Array.from(digits.match(/../g) ?? [], (pair) => Number.parseInt(pair, 16));
}
