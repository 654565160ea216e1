import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { isPlainObject } from "@orcha/contract";
import { createOrcha } from "@orcha/client";
import { expect, onTestFinished, test } from "vitest";
import type { agents } from "../runs/agents.ts";
import { eventsOf, type RunClient } from "../runs/bed.ts";
import { shapeOf } from "../runs/journey.ts";
import type { Death } from "../runs/plug.ts";
import { describePlaces } from "./places.ts";
import { startProgram, type ServerProcess } from "./process.ts";
import type { RunServerInput } from "./run-server.ts";

/** `pnpm test:crash` asks for more. */
const kills = Number(process.env["ORCHA_RUN_KILLS"] ?? 4);
/** Long enough for a busy machine: one that runs out under a living server is taken back and forth. */
const leaseMs = 800;
/** The journey's writes of events, counted where one process does them all. */
const lastWrite = 16;

const answer = { toolResults: [{ callId: "call_ask", output: { approved: true } }] };

/** A client that turns to the next server where one doesn't answer. */
function clientOf(servers: () => readonly string[]): RunClient {
  const baseUrl = "http://orcha.test";
  return createOrcha<typeof agents>({
    baseUrl,
    retry: { attempts: 60, minDelayMs: 20, maxDelayMs: 100 },
    async fetch(input, init) {
      const request = new Request(input, init);
      const body = request.method === "GET" ? undefined : await request.text();
      let failure: unknown;
      for (const server of servers()) {
        try {
          return await fetch(request.url.replace(baseUrl, server), { ...init, method: request.method, headers: request.headers, ...(body === undefined ? {} : { body }) });
        } catch (error) {
          failure = error;
        }
      }
      throw failure;
    },
  });
}

describePlaces("a run whose process is killed", (makePlace) => {
  test(`${kills} times, by kill -9, ends in another process as if nothing had happened`, { timeout: 60_000 + kills * 6000 }, async () => {
    const folder = mkdtempSync(join(tmpdir(), "orcha-runs-"));
    const effects = join(folder, "effects");
    writeFileSync(effects, "");
    const place = await makePlace();
    const start = (death?: Death): Promise<ServerProcess> => {
      const input: RunServerInput = { place, effects, leaseMs, ...(death ? { death } : {}) };
      return startProgram("run-server.ts", input);
    };
    const survivor = await start();
    onTestFinished(async () => {
      await survivor.kill();
      rmSync(folder, { recursive: true, force: true });
    });

    async function journey(name: string, servers: () => readonly string[]) {
      const orcha = clientOf(servers);
      const sessionId = `ses_${name}`;
      const first = orcha.supportAgent.run({ content: "Where are they?", sessionId }, { idempotencyKey: "first" });
      expect(await first.result).toMatchObject({ status: "waiting_for_client_action" });
      const second = orcha.supportAgent.resume(sessionId, answer, { idempotencyKey: "second" });
      expect(await second.result).toMatchObject({ status: "completed", run: 1 });
      const { items } = await orcha.supportAgent.history(sessionId);
      return { sessionId, shape: shapeOf(items), events: await eventsOf(orcha, sessionId) };
    }

    const whole = await journey("whole", () => [survivor.url]);
    // Before and after each write in turn, spread over all of them however few rounds there are; every fourth at a
    // moment that nobody chose.
    const isRandom = (round: number) => round % 4 === 3;
    const writeOf = (round: number) => 1 + ((round * 7) % lastWrite);
    const startDying = (round: number) => start(isRandom(round) ? undefined : { write: writeOf(round), when: round % 2 === 0 ? "after" : "before" });
    let died = 0;
    // A process takes longer to start than to die, so each is there before its round.
    let starting = startDying(0);
    onTestFinished(async () => (await starting).kill());
    for (let round = 0; died < kills; round += 1) {
      const write = writeOf(round);
      const dying = await starting;
      starting = startDying(round + 1);
      const timer = isRandom(round) ? setTimeout(() => dying.child.kill("SIGKILL"), 5 + Math.random() * 120) : undefined;
      const { sessionId, shape, events } = await journey(String(round), () => [dying.url, survivor.url]);
      clearTimeout(timer);
      if (dying.child.signalCode === "SIGKILL") died += 1;
      await dying.kill();
      expect({ round, write, shape }).toEqual({ round, write, shape: whole.shape });
      expect(events.map(({ sequence }) => sequence)).toEqual(events.map((_, index) => index + 1));
      for (const callId of ["call_a", "call_b"]) {
        const of = (type: string) => events.filter((event) => event.type === type && isPlainObject(event.data) && event.data["callId"] === callId);
        expect([of("action.requested").length, of("action.completed").length]).toEqual([1, 1]);
        // The judge of effects: at most one repetition, where the process died between the effect and its record.
        const happened = readFileSync(effects, "utf8").split("\n").filter((key) => key === `${sessionId}:${callId}`).length;
        expect(happened).toBeGreaterThanOrEqual(1);
        expect(happened).toBeLessThanOrEqual(2);
      }
    }
    expect(died).toBe(kills);
  });
});
