import { expect, onTestFinished, test } from "vitest";
import { makePostgres } from "../postgres.ts";
import { clientAt, startServer } from "./process.ts";

test("a database that is gone for a while: storage_error within a bound, nothing acknowledged is lost, and no restart", { timeout: 120_000 }, async () => {
  const database = await makePostgres();
  onTestFinished(() => database.remove());
  await database.start();
  const server = await startServer({ postgres: { connectionString: database.url, schema: "orcha" } });
  onTestFinished(() => server.kill());
  const orcha = clientAt(server.url, { retry: false, timeoutMs: 30_000 });
  const { sessionId } = await orcha.supportAgent.create();

  const acknowledged = new Set<string>();
  const codes = new Set<string>();
  const writing = new AbortController();
  let count = 0;
  async function write(): Promise<void> {
    while (!writing.signal.aborted) {
      const content = `m${(count += 1)}`;
      const { data, error } = await orcha.supportAgent.append.safe(sessionId, { messages: [{ role: "user", content }] });
      if (data) acknowledged.add(content);
      else codes.add(error.code);
      // A server that refuses at once would be asked thousands of times.
      if (error) await new Promise((resolve) => setTimeout(resolve, 50));
    }
  }
  const writers = Promise.all([write(), write(), write(), write()]);
  await expect.poll(() => acknowledged.size).toBeGreaterThan(50);

  await database.stop();
  const gone = Date.now();
  await expect.poll(() => codes.size, { timeout: 15_000 }).toBeGreaterThan(0);
  const { error } = await orcha.supportAgent.history.safe(sessionId);
  expect(error).toMatchObject({ code: "storage_error", retryable: true });
  // Ten seconds in all, as a failover may take.
  await new Promise((resolve) => setTimeout(resolve, Math.max(0, gone + Number(process.env["ORCHA_OUTAGE_MS"] ?? 3000) - Date.now())));
  expect((await fetch(`${server.url}/healthz`)).status).toBe(200);
  await database.start();
  const before = acknowledged.size;
  await expect.poll(() => acknowledged.size, { timeout: 20_000 }).toBeGreaterThan(before + 50);
  writing.abort();
  await writers;

  expect(codes).toEqual(new Set(["storage_error"]));
  const stored = (await orcha.supportAgent.messages(sessionId)).map(({ content }) => content ?? "");
  expect(new Set(stored).size).toBe(stored.length);
  expect(stored).toEqual(expect.arrayContaining([...acknowledged]));
  const { events, total } = await orcha.supportAgent.events(sessionId, { pageSize: 100 });
  expect(events.at(-1)?.sequence).toBe(total);
});
