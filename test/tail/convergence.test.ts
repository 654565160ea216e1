import { setTimeout as sleep } from "node:timers/promises";
import { createOrcha } from "@orcha/client";
import { createService, memoryStore, type Service, type Store } from "@orcha/server";
import { expect, test } from "vitest";
import { agents } from "../agents.ts";
import type { TestClient } from "../harness.ts";
import { postgresIn, sqliteIn, temporaryFolders, temporarySchemas } from "../stores.ts";
import { Reader } from "./reader.ts";

/** A server that is ended and started anew, on a store of its own: a deploy. */
class Deployed {
  private readonly open: () => Promise<Store>;
  private service: Service | undefined;
  private sockets = new AbortController();
  private store: Store | undefined;

  constructor(open: () => Promise<Store>) {
    this.open = open;
  }

  async start(): Promise<void> {
    this.store = await this.open();
    this.service = createService({ agents, store: this.store });
  }

  async end(): Promise<void> {
    const { service, store } = this;
    this.service = undefined;
    await service?.drain(0);
    // Those that didn't leave by themselves are cut off.
    await sleep(5);
    this.sockets.abort();
    this.sockets = new AbortController();
    await sleep(5);
    await store?.close();
  }

  fetch(request: Request): Promise<Response> {
    if (!this.service) throw new TypeError("nobody listens");
    const { signal } = this.sockets;
    return Promise.resolve(this.service.app.fetch(request)).then((response) => cut(response, Infinity, signal));
  }
}

/** Cuts a body somewhere, or at some time. */
function cut(response: Response, after: number, signal?: AbortSignal): Response {
  const reader = response.body?.getReader();
  let left = after;
  const body = new ReadableStream<Uint8Array>({
    start(sink) {
      const leave = (): void => {
        void reader?.cancel();
        try {
          sink.error(new Error("cut"));
        } catch {
          // It had ended by itself.
        }
      };
      signal?.addEventListener("abort", leave, { once: true });
    },
    async pull(sink) {
      const step = await reader?.read();
      if (!step || step.done) {
        sink.close();
        return;
      }
      sink.enqueue(step.value.subarray(0, left));
      left -= step.value.byteLength;
      if (left > 0) return;
      void reader?.cancel();
      // Half of the cuts look like an end.
      if (Math.random() < 0.5) sink.error(new Error("cut"));
      else sink.close();
    },
    async cancel() {
      await reader?.cancel();
    },
  });
  return new Response(body, response);
}

function clientOf(servers: readonly Deployed[]): TestClient {
  return createOrcha<typeof agents>({
    baseUrl: "http://orcha.test",
    retry: { attempts: 30, minDelayMs: 5, maxDelayMs: 40 },
    async fetch(input, init) {
      const request = new Request(input, init);
      const server = servers[Math.floor(Math.random() * servers.length)];
      const response = await server?.fetch(request);
      if (!response) throw new TypeError("no server");
      const isStream = response.headers.get("content-type") === "text/event-stream";
      return isStream && Math.random() < 0.7 ? cut(response, 1 + Math.random() * 4000) : response;
    },
  });
}

/** Writes whatever an agent and its people write, one thing after the other. */
async function writeOn(orcha: TestClient, sessionId: string, count: number): Promise<void> {
  const { supportAgent } = orcha;
  const say = (text: string) => ({ messages: [{ role: "user" as const, content: text }] });
  const waiting: string[] = [];
  for (let index = 0; index < count; index += 1) {
    const callId = `c${index}`;
    switch (index % 5) {
      case 0:
        await supportAgent.append(sessionId, { events: [{ type: "action.requested", data: { callId, name: "lookup_order" } }] });
        await supportAgent.append(sessionId, { events: [{ type: "action.completed", data: { callId, name: "lookup_order", output: index } }] });
        break;
      case 1: {
        const call = { callId, name: "request_human_approval", arguments: { amount: index, currency: "USD" } };
        await supportAgent.append(sessionId, { events: [{ type: "client_action.requested", data: { calls: [call] } }] });
        waiting.push(callId);
        break;
      }
      case 2:
        // An answer that comes late changes an item far up.
        if (waiting.length > 3) await supportAgent.resume(sessionId, { toolResults: [{ callId: waiting.shift() ?? "", output: { approved: true } }] }).result;
        break;
      case 3:
        await supportAgent.update(sessionId, { name: `Turn ${index}` });
        break;
      default:
        await supportAgent.append(sessionId, say(`message ${index}`));
    }
    if (index % 7 === 0) await sleep(Math.random() * 20);
  }
}

/** Answers what went wrong with any reader. */
async function converge(open: () => Promise<Store>, serverCount: number, writes: number): Promise<string[]> {
  const servers = Array.from({ length: serverCount }, () => new Deployed(open));
  for (const server of servers) await server.start();
  const orcha = clientOf(servers);
  const { session } = await orcha.supportAgent.restore(Array.from({ length: 37 }, (_, index) => ({ role: "user" as const, content: String(index) })));
  const { sessionId } = session;
  const readers = Array.from({ length: 5 }, () => new Reader(clientOf(servers), sessionId));
  // One is slow, one very slow.
  const pauses = [0, 0, 0, 5, 40];
  const writing = writeOn(orcha, sessionId, writes);
  for (const [index, reader] of readers.entries()) {
    await sleep(20 * index);
    const pause = pauses[index] ?? 0;
    await reader.open(async () => {
      if (pause > 0) await sleep(Math.random() * pause);
    });
  }
  for (const server of servers) {
    await sleep(60);
    await server.end();
    await sleep(20);
    await server.start();
    for (const reader of readers.slice(0, 3)) await reader.older();
  }
  await writing;
  const log = await orcha.supportAgent.history(sessionId, { pageSize: 100 });
  const all = [...(log.hasMore ? (await orcha.supportAgent.history(sessionId, { page: 2, pageSize: 100, throughSequence: log.throughSequence })).items : []), ...log.items];
  expect(all).toHaveLength(log.total);
  for (const reader of readers) {
    await expect.poll(() => reader.shown(), { timeout: 15_000, interval: 50 }).toEqual(all.slice(reader.start));
  }
  await Promise.all(readers.map((reader) => reader.close()));
  for (const server of servers) await server.end();
  return readers.flatMap(({ faults }) => faults);
}

const folders = temporaryFolders();
const schemas = temporarySchemas();

test("five readers see what the log says: two servers on one Postgres, cut, restarted and slow", { timeout: 40_000 }, async () => {
  const schema = schemas();
  expect(await converge(() => postgresIn(schema, { maxConnections: 3 }), 2, 80)).toEqual([]);
});

test("five readers see what the log says: one server on SQLite", { timeout: 40_000 }, async () => {
  const folder = await folders();
  expect(await converge(() => sqliteIn(folder, { synchronous: "NORMAL" }), 1, 80)).toEqual([]);
});

test("five readers see what the log says: two servers of one memory", { timeout: 40_000 }, async () => {
  const store = memoryStore();
  // It outlives its servers.
  store.close = async () => {};
  expect(await converge(async () => store, 2, 80)).toEqual([]);
});
