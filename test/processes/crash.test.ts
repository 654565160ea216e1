import { setTimeout as sleep } from "node:timers/promises";
import { advance, type SessionEvent } from "@orcha/contract";
import { expect, test } from "vitest";
import type { TestClient } from "../harness.ts";
import { describePlaces } from "./places.ts";
import { clientAt, startServer, type ServerProcess } from "./process.ts";

/** `pnpm test:crash` asks for more. */
const rounds = Number(process.env["ORCHA_CRASH_ROUNDS"] ?? 5);
const sessions = ["ses_a", "ses_b", "ses_c"];

describePlaces("a server killed under appends", (makePlace) => {
  test(`${rounds} times at random moments: what was acknowledged is in the log, and nothing is half-written`, { timeout: 60_000 + rounds * 5000 }, async () => {
    const place = await makePlace();
    const acknowledged = new Map<string, { sessionId: string; sequence: number }>();
    let server = await startServer(place);
    await Promise.all(sessions.map((sessionId) => clientAt(server.url).supportAgent.create({ sessionId })));
    for (let round = 0; round < rounds; round += 1) {
      const before = acknowledged.size;
      const killed = killSoon(server, () => acknowledged.size >= before + sessions.length);
      await Promise.all(sessions.map((sessionId) => appendUntilDead(server.url, sessionId, round, acknowledged)));
      await killed;
      server = await startServer(place);
      await checkEverything(clientAt(server.url), acknowledged);
    }
    await server.kill();
    // Every round got some work done, or the test would prove nothing.
    expect(acknowledged.size).toBeGreaterThanOrEqual(rounds * sessions.length);
  });
});

/** Up to 100 ms after the first appends, at a fraction of a millisecond that nobody chose. */
async function killSoon(server: ServerProcess, hasBegun: () => boolean): Promise<void> {
  const deadline = performance.now() + 10_000;
  while (!hasBegun() && performance.now() < deadline) await sleep(1);
  await sleep(Math.random() * 100);
  const until = performance.now() + Math.random();
  while (performance.now() < until);
  await server.kill();
}

async function appendUntilDead(
  url: string,
  sessionId: string,
  round: number,
  acknowledged: Map<string, { sessionId: string; sequence: number }>,
): Promise<void> {
  const orcha = clientAt(url, { retry: false });
  for (let count = 0; ; count += 1) {
    const callId = `${sessionId}-${round}-${count}`;
    // Five events, one item of two versions and two messages: all or nothing.
    const { data } = await orcha.supportAgent.append.safe(sessionId, {
      events: [
        { type: "message.created", data: { role: "user", content: [{ type: "text", text: callId }] } },
        { type: "action.requested", data: { callId, name: "lookup_order", arguments: { orderId: callId } } },
        { type: "action.completed", data: { callId, name: "lookup_order", output: count } },
        { type: "message.created", data: { role: "tool", content: [{ callId, name: "lookup_order", output: count }] } },
        { type: "message.created", data: { role: "assistant", content: [{ type: "text", text: `${callId} done` }] } },
      ],
    });
    if (!data) return;
    acknowledged.set(callId, { sessionId, sequence: data.firstSequence });
  }
}

async function checkEverything(orcha: TestClient, acknowledged: ReadonlyMap<string, { sessionId: string; sequence: number }>): Promise<void> {
  const logs = new Map(await Promise.all(sessions.map(async (sessionId) => [sessionId, await logOf(orcha, sessionId)] as const)));
  for (const [callId, { sessionId, sequence }] of acknowledged) {
    const event = logs.get(sessionId)?.[sequence - 1];
    expect(event).toMatchObject({ sequence, data: { content: [{ text: callId }] } });
  }
  for (const [sessionId, log] of logs) {
    expect(log.map(({ sequence }) => sequence)).toEqual(log.map((_, index) => index + 1));
    // Batches are five events behind the first: a half-written one would break the count.
    expect((log.length - 1) % 5).toBe(0);
    const { view, versions } = advance(undefined, new Map(), log);
    expect(await orcha.supportAgent.get(sessionId)).toEqual(JSON.parse(JSON.stringify(view.snapshot)));
    const items: unknown[] = [];
    for (const { position, item } of versions) items[position] = item;
    const stored: unknown[] = [];
    for await (const page of orcha.supportAgent.pages(sessionId, { pageSize: 100 })) stored.unshift(...page.items);
    expect(stored).toEqual(JSON.parse(JSON.stringify(items)));
  }
}

async function logOf(orcha: TestClient, sessionId: string): Promise<SessionEvent[]> {
  const log: unknown[] = [];
  for (let page = 1, hasMore = true; hasMore; page += 1) {
    const history = await orcha.supportAgent.events(sessionId, { page, pageSize: 100 });
    log.unshift(...history.events);
    ({ hasMore } = history);
  }
  return log as SessionEvent[];
}
