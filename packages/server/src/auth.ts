import { OrchaError, type Scope } from "@orcha/contract";

/** Who calls, and what they may do. */
export interface Principal {
  /** Part of every key: a caller sees the sessions of its tenant and no other. */
  tenant: string;
  /** Recorded as `actor` on what the caller writes. */
  subject?: string;
  scopes: readonly Scope[];
}

/** Finds out who sent a request; nobody means `unauthorized`. */
export type Authenticate = (request: Request) => Principal | undefined | Promise<Principal | undefined>;

/** Every scope there is. */
export const allScopes: readonly Scope[] = ["read", "log", "run", "resolve", "write", "admin"];

/** Lets everybody do everything, as one tenant: for servers that only this machine can reach. */
export const everybody: Authenticate = () => ({ tenant: "default", scopes: allScopes });

/** Throws `unauthorized` where nobody is known, `forbidden` where the scope is missing. */
export async function authorise(authenticate: Authenticate, request: Request, scope: Scope): Promise<Principal> {
  const principal = await authenticate(request);
  if (!principal) throw new OrchaError("unauthorized", "this server needs a valid token");
  if (principal.scopes.includes(scope)) return principal;
  throw new OrchaError("forbidden", `this call needs the scope "${scope}"`, { details: { scope } });
}
