import { createOrcha, type Orcha, type OrchaOptions } from "@orcha/client";
import { createApp, type AppOptions, type Store } from "@orcha/server";
import { serve } from "@orcha/server/node";
import { onTestFinished } from "vitest";
import { agents } from "./agents.ts";

export type TestClient = Orcha<typeof agents>;

/** A client that talks to an app in this process, byte for byte as over the network. */
export function clientOf(store: Store, app: Partial<AppOptions<typeof agents>> = {}, options: Partial<OrchaOptions> = {}): TestClient {
  const { request } = appOf(store, app);
  return createOrcha<typeof agents>({
    baseUrl: "http://orcha.test",
    fetch: async (input, init) => request(new Request(input, init)),
    ...options,
  } as OrchaOptions<typeof agents>);
}

/** An app over a store, and calls to it as raw requests. */
export function appOf(store: Store, options: Partial<AppOptions<typeof agents>> = {}) {
  const app = createApp({ agents, store, ...options });
  async function rpc(operation: string, input: unknown, headers: Record<string, string> = {}) {
    const response = await app.request(`/rpc/${operation}`, {
      method: "POST",
      headers: { "content-type": "application/json", ...headers },
      body: JSON.stringify({ json: input }),
    });
    const text = await response.text();
    const body: { json?: unknown } = JSON.parse(text);
    return { status: response.status, text, json: body.json as Record<string, unknown> };
  }
  return { app, rpc, request: (request: Request): Promise<Response> => Promise.resolve(app.fetch(request)) };
}

/** A real server on a free port, with a real client, both gone when the test is over. */
export async function serverOf(store: Store, options: Partial<OrchaOptions> = {}) {
  const server = await serve({ agents, store, port: 0 });
  onTestFinished(() => server.close());
  const orcha = createOrcha<typeof agents>({ baseUrl: server.url, ...options } as OrchaOptions<typeof agents>);
  return { server, orcha };
}

/** A clock that tests move, and ids that count. */
export function surroundings(start = Date.parse("2026-09-28T12:00:00.000Z")) {
  let now = start;
  let count = 0;
  return {
    now: () => now,
    sessionId: () => `ses_test_${(count += 1)}`,
    advance: (milliseconds: number) => {
      now += milliseconds;
    },
  };
}

/** Waits until both sides of a promise are known. */
export async function codeOf(promise: Promise<unknown>): Promise<string> {
  try {
    await promise;
  } catch (error) {
    if (error instanceof Error && "code" in error) return String(error.code);
    throw error;
  }
  return "no error";
}
