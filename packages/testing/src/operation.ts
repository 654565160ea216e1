import { contract, type OperationName } from "@orcha/contract";

/** A request as an operation of the contract. */
export interface Operation {
  name: OperationName;
  /** What was sent: the body or the query, with the names that the path has. */
  input: Readonly<Record<string, unknown>>;
}

/** Every operation that there is. */
export const operationNames = Object.keys(contract) as OperationName[];

/** The paths of the REST interface, in msw's words, such as `/api/agents/:agent/sessions`. */
export const restPaths: readonly string[] = [
  ...new Set(operationNames.map((name) => `/api${routeOf(name).path.replaceAll(/\{(\w+)\}/g, ":$1")}`)),
  "/api/agents",
  "/api/openapi.json",
  "/api/import",
];

/** Tells which operation a request asks for; nothing where it is none. */
export function operationOf(url: URL, method: string, body: string): Operation | undefined {
  const [, kind, first = ""] = url.pathname.split("/");
  if (kind === "rpc") {
    const name = operationNames.find((known) => known === first);
    const envelope = method === "GET" ? url.searchParams.get("data") : body;
    return name && { name, input: record(record(parsed(envelope ?? "")).json) };
  }
  for (const name of operationNames) {
    const route = routeOf(name);
    const found = route.method === method ? matched(`/api${route.path}`, url.pathname) : undefined;
    if (!found) continue;
    const given = method === "GET" ? Object.fromEntries(url.searchParams) : record(parsed(body));
    // A restore is a create with messages: the two share their route.
    return { name: name === "create" && "messages" in given ? "restore" : name, input: { ...given, ...found } };
  }
  return undefined;
}

function routeOf(name: OperationName): { method: string; path: string } {
  const { method = "", path = "" } = contract[name]["~orpc"].route;
  return { method, path };
}

function matched(template: string, path: string): Record<string, string> | undefined {
  const wanted = template.split("/");
  const given = path.split("/");
  if (wanted.length !== given.length) return undefined;
  const found: Record<string, string> = {};
  for (const [index, part] of wanted.entries()) {
    const value = given[index] ?? "";
    const name = /^\{(\w+)\}$/.exec(part)?.[1];
    if (name !== undefined) found[name] = decoded(value);
    else if (part !== value) return undefined;
  }
  return found;
}

/** What can't be decoded is for the server to refuse. */
function decoded(value: string): string {
  try {
    return decodeURIComponent(value);
  } catch {
    return value;
  }
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function record(value: unknown): Record<string, unknown> {
  return typeof value === "object" && value !== null ? { ...value } : {};
}
