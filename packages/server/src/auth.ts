import { OrchaError, type Scope } from "@orcha/contract";

/** Who calls, and what they may do. */
export interface Principal {
  /** Part of every key: a caller sees the sessions of its tenant and no other. 1 to 200 characters. */
  tenant: string;
  /** Recorded as `actor` on what the caller writes. 1 to 200 characters. */
  subject?: string;
  scopes: readonly Scope[];
}

/**
 * Finds out who sent a request, from its headers; nobody means `unauthorized`. An `OrchaError` that it throws goes to the
 * caller; anything else is the server's own fault.
 */
export type Authenticate = (request: Request) => Principal | undefined | Promise<Principal | undefined>;

/** Every scope there is. */
export const allScopes: readonly Scope[] = ["read", "log", "run", "resolve", "write", "admin"];

/** Tells scopes from whatever else a token may claim. */
export function isScope(value: unknown): value is Scope {
  return allScopes.some((scope) => scope === value);
}

/** Lets everybody do everything, as one tenant: for servers that only this machine can reach. */
export const everybody: Authenticate = () => ({ tenant: "default", scopes: allScopes });

/** How long an `Authenticate` may take, in milliseconds. */
export const authLimitMs = 10_000;

/** Throws `unauthorized` where nobody is known, `forbidden` where the caller has neither scope. */
export async function authorise(authenticate: Authenticate, request: Request, scope: Scope, orScope: Scope = scope): Promise<Principal> {
  const found = await inTime(authenticate(request));
  if (!found) throw new OrchaError("unauthorized", "this server needs a valid token");
  const fault = principalFault(found);
  if (fault !== undefined) throw new TypeError(`auth answered a principal whose ${fault}`);
  const { tenant, subject, scopes } = found;
  if (scopes.includes(scope) || scopes.includes(orScope)) return { tenant, scopes, ...(subject === undefined ? {} : { subject }) };
  throw new OrchaError("forbidden", `this call needs the scope "${scope}"`, { details: { scope } });
}

/** Says what is wrong with a principal, without quoting it: `tenant is blank`. */
export function principalFault({ tenant, subject, scopes }: { [K in keyof Principal]?: unknown }): string | undefined {
  const named = nameFault(tenant);
  if (named !== undefined) return `tenant ${named}`;
  const signed = subject === undefined ? undefined : nameFault(subject);
  if (signed !== undefined) return `subject ${signed}`;
  // A string has `includes` too, so "read-only" would grant "read".
  if (!Array.isArray(scopes)) return "scopes is not a list";
  const unknown = scopes.findIndex((scope) => !isScope(scope));
  return unknown === -1 ? undefined : `scopes[${unknown}] is none of ${allScopes.join(", ")}`;
}

/** Tenants and subjects go into keys, logs and events, which not every store lets a NUL or half a character into. */
function nameFault(value: unknown): string | undefined {
  if (typeof value !== "string") return "is not a string";
  if (value.trim() === "") return "is blank";
  if (value.length > 200) return "has more than 200 characters";
  if (/\p{Cc}/u.test(value)) return "has a control character";
  return value.isWellFormed() ? undefined : "has half a surrogate pair";
}

/** A hook may wait for a key server that never answers; the request must not. */
async function inTime<T>(answer: T | Promise<T>): Promise<T> {
  if (typeof answer !== "object" || answer === null || !("then" in answer)) return answer;
  let timer: ReturnType<typeof setTimeout> | undefined;
  const late = new Promise<never>((_, reject) => {
    const fail = (): void => reject(new OrchaError("too_busy", "who calls could not be found out in time"));
    timer = setTimeout(fail, authLimitMs);
  });
  try {
    return await Promise.race([answer, late]);
  } finally {
    clearTimeout(timer);
  }
}
