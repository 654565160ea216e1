import { contract, type OperationName } from "@orcha/contract";

/** A path of the REST interface, such as `/agents/{agent}/sessions`, and the operations of each method. */
export interface RestRoute {
  path: string;
  /** More than one share a method where the body tells them apart: `restore` is a `create` with `messages`. */
  methods: ReadonlyMap<string, readonly OperationName[]>;
}

/** Every path, as the contract says. */
export function restRoutes(): RestRoute[] {
  const routes = new Map<string, Map<string, OperationName[]>>();
  for (const name of Object.keys(contract) as OperationName[]) {
    const { method, path } = contract[name]["~orpc"].route;
    if (method === undefined || path === undefined) throw new TypeError(`${name} has no route`);
    const methods = routes.get(path) ?? new Map<string, OperationName[]>();
    methods.set(method, [...(methods.get(method) ?? []), name]);
    routes.set(path, methods);
  }
  return [...routes].map(([path, methods]) => ({ path, methods }));
}

/** The one of a method's operations that an input asks for. */
export function chosen(operations: readonly OperationName[], input: object): OperationName {
  const [first, second] = operations;
  if (first === "create" && second === "restore") return Object.hasOwn(input, "messages") ? second : first;
  if (first === undefined || second !== undefined) throw new TypeError("operations that share a route must be told apart here");
  return first;
}
