import { setTimeout as sleep } from "node:timers/promises";
import { createOrcha } from "@orcha/client";
import { expect, test } from "vitest";
import type { agents } from "../agents.ts";
import type { TestClient } from "../harness.ts";
import { Reader } from "../tail/reader.ts";
import { describePlaces } from "./places.ts";
import { startServer, type ServerProcess } from "./process.ts";

/** Turns to another server where one doesn't answer, each time from another one on. */
function clientOf(servers: readonly ServerProcess[]): TestClient {
  let turn = Math.floor(Math.random() * servers.length);
  return createOrcha<typeof agents>({
    baseUrl: "http://orcha.test",
    retry: { attempts: 60, minDelayMs: 20, maxDelayMs: 100 },
    fetch: (input, init) => {
      turn += 1;
      const url = input instanceof Request ? input.url : input.toString();
      return fetch(url.replace("http://orcha.test", servers[turn % servers.length]?.url ?? ""), init);
    },
  });
}

describePlaces("tails of two server processes", (makePlace) => {
  test("show what the log says, whichever is killed", { timeout: 60_000 }, async () => {
    const place = await makePlace();
    const servers = [await startServer(place), await startServer(place)];
    const orcha = clientOf(servers);
    const { session } = await orcha.supportAgent.restore(Array.from({ length: 23 }, (_, index) => ({ role: "user" as const, content: String(index) })));
    const { sessionId } = session;
    const readers = Array.from({ length: 5 }, () => new Reader(clientOf(servers), sessionId));
    for (const reader of readers) await reader.open(async () => {});
    const writing = (async () => {
      for (let index = 0; index < 120; index += 1) {
        const callId = `c${index}`;
        await orcha.supportAgent.append(sessionId, { events: [{ type: "action.requested", data: { callId, name: "lookup_order" } }] });
        await orcha.supportAgent.append(sessionId, { events: [{ type: "action.completed", data: { callId, name: "lookup_order", output: index } }] });
      }
    })();
    for (const index of [0, 1]) {
      await sleep(200);
      await servers[index]?.kill();
      for (const reader of readers) await reader.older();
      servers[index] = await startServer(place);
    }
    await writing;
    const pages = [];
    for await (const page of orcha.supportAgent.pages(sessionId, { pageSize: 100 })) pages.unshift(...page.items);
    for (const reader of readers) await expect.poll(() => reader.shown(), { timeout: 20_000, interval: 100 }).toEqual(pages.slice(reader.start));
    expect(readers.flatMap(({ faults }) => faults)).toEqual([]);
    await Promise.all(readers.map((reader) => reader.close()));
    for (const server of servers) await server.kill();
  });
});
