import { contract, type OperationName } from "@orcha/contract";
import type { Store } from "@orcha/server";
import { appOf } from "../harness.ts";

/** What a test sees of an answer. */
export interface RestAnswer {
  status: number;
  headers: Headers;
  text: string;
  json: unknown;
}

/** The request that REST takes for an operation's input. */
export function requestOf(operation: OperationName, input: object, headers: Record<string, string> = {}): [path: string, init: RequestInit] {
  const { method = "", path = "" } = contract[operation]["~orpc"].route;
  const rest: Record<string, unknown> = { ...input };
  const filled = path.replaceAll(/\{(\w+)\}/g, (_whole, name: string) => {
    const value = String(rest[name]);
    delete rest[name];
    return encodeURIComponent(value);
  });
  if (method !== "GET") {
    const body = Object.keys(rest).length === 0 ? undefined : JSON.stringify(rest);
    const type: Record<string, string> = body === undefined ? {} : { "content-type": "application/json" };
    return [`/api${filled}`, { method, headers: { ...type, ...headers }, ...(body === undefined ? {} : { body }) }];
  }
  const query = new URLSearchParams();
  for (const [key, value] of Object.entries(rest)) query.set(key, typeof value === "string" ? value : JSON.stringify(value));
  const search = query.size === 0 ? "" : `?${query.toString()}`;
  return [`/api${filled}${search}`, { method, headers }];
}

/** An app over a store, and calls to it by both protocols. */
export function bothOf(store: Store, options: Parameters<typeof appOf>[1] = {}) {
  const { app, rpc } = appOf(store, options);
  async function send(path: string, init: RequestInit = {}): Promise<RestAnswer> {
    const response = await app.request(path, init);
    const text = await response.text();
    const isJson = text !== "" && response.headers.get("content-type")?.startsWith("application/json") === true;
    return { status: response.status, headers: response.headers, text, json: isJson ? (JSON.parse(text) as unknown) : undefined };
  }
  function rest(operation: OperationName, input: object, headers?: Record<string, string>): Promise<RestAnswer> {
    return send(...requestOf(operation, input, headers));
  }
  return { app, rpc, rest, send };
}

export const operations = Object.keys(contract) as OperationName[];
