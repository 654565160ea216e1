import { connect } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import { scriptedModel, type ScriptReply, type ScriptRequest } from "@orcha/agent/testing";
import { createOrcha, type Execution, type OrchaOptions } from "@orcha/client";
import { memoryStore } from "@orcha/server";
import { serve } from "@orcha/server/node";
import { afterEach, beforeEach, describe, expect, onTestFinished, test, vi } from "vitest";
import { agents } from "./agents.ts";
import { bedOf, monologue, typesOf, variables, type Bed, type RunClient } from "./bed.ts";
import { proxyCuttingAt } from "./cutting-proxy.ts";
import { cuttingAt, type Cutting, type Fate } from "./cutting.ts";

/** Two rounds, each in pieces, with characters of several bytes. */
function looksUp({ prompt }: ScriptRequest): ScriptReply {
  if (prompt.some(({ role }) => role === "tool")) return { text: "Lost, désolée 🙂", chunkSize: 4, delayMs: 25 };
  const toolCalls = [{ callId: "call_1", name: "lookup_order", arguments: { orderId: "A-1" } }];
  return { text: "Ça vient…", chunkSize: 3, delayMs: 25, toolCalls };
}

function clientOver(fetch: typeof globalThis.fetch, options: Partial<OrchaOptions> = {}): RunClient {
  const quick = { retry: { minDelayMs: 0, maxDelayMs: 2 } };
  return createOrcha<typeof agents>({ baseUrl: "http://orcha.test", fetch, ...quick, ...options } as OrchaOptions<typeof agents>);
}

function wayTo({ service }: Bed): typeof globalThis.fetch {
  return async (input, init) => service.app.fetch(new Request(input, init));
}

/** A response that says its pieces one by one, each when the one before was read. */
function speaking(pieces: readonly string[]): Response {
  const rest = [...pieces];
  const body = new ReadableStream<Uint8Array>(
    {
      async pull(sink) {
        // Readers who want the newest state only get a chance to see each.
        await sleep(2);
        const piece = rest.shift();
        if (piece !== undefined) sink.enqueue(new TextEncoder().encode(piece));
        else sink.close();
      },
    },
    { highWaterMark: 0 },
  );
  return new Response(body, { headers: { "content-type": "text/event-stream" } });
}

function says(name: string, data: unknown): string {
  return `event: ${name}\ndata: ${JSON.stringify(data)}\n\n`;
}

function streaming(round: number, output: string): string {
  return says("frame", { status: "streaming", sessionId: "ses_1", run: 1, round, output });
}

const started = says("started", { sessionId: "ses_1", run: 1 });
const result = { status: "completed", sessionId: "ses_1", run: 1, output: "Good day" };
const ended = [says("result", result), says("evaluations", []), says("end", {})];

/** Answers each request with the next of some responses. */
function answering(...answers: (() => Response | Promise<Response>)[]) {
  return vi.fn<typeof globalThis.fetch>(async () => {
    const answer = answers.shift();
    if (!answer) throw new TypeError("nobody answers");
    return answer();
  });
}

/** Reads a stream to its end, and checks what every reader may rely on. */
async function framesOf(run: Pick<Execution, "stream" | "result">) {
  const frames = [];
  for await (const frame of run.stream) frames.push(frame);
  const texts = frames.filter((frame) => frame.status === "streaming");
  const isNewer = texts.map(({ round, output }, index) => {
    const before = texts[index - 1] ?? { round: 0, output: "" };
    return round > before.round || (round === before.round && output.startsWith(before.output));
  });
  expect(isNewer).not.toContain(false);
  expect(frames.at(-1)).toEqual(await run.result);
  return frames;
}

/** Runs once over connections of which the first is cut, and checks that nobody could tell. */
async function runCut(bed: Bed, position: number, fate: Fate, options: Partial<OrchaOptions> = {}): Promise<Cutting> {
  const cutting = cuttingAt(position, fate, wayTo(bed));
  const run = clientOver(cutting.fetch, options).supportAgent.run({ content: "Where is A-1?", variables });
  const frames = await framesOf(run);
  expect(frames.at(-1)).toEqual({ status: "completed", sessionId: run.sessionId, run: 1, output: "Lost, désolée 🙂" });
  expect(await run.evaluations).toMatchObject([{ name: "response_quality", status: "passed" }]);
  expect(cutting.connections).toBe(cutting.isCut ? 2 : 1);
  return cutting;
}

describe("a stream that is cut", () => {
  test.each([
    ["break", 1],
    ["end", 3],
  ] as const)("at any byte, goes on where it was: %s", { timeout: 60_000 }, async (fate, every) => {
    const bed = bedOf(memoryStore(), { support: looksUp });
    const whole = await runCut(bed, Infinity, fate);
    expect(whole.bytes).toBeGreaterThan(600);
    const positions = Array.from({ length: Math.ceil(whole.bytes / every) }, (_, index) => index * every);
    const cuts: Cutting[] = [];
    // Some at a time: each of them mostly waits.
    for (let start = 0; start < positions.length; start += 100) {
      cuts.push(...(await Promise.all(positions.slice(start, start + 100).map((position) => runCut(bed, position, fate)))));
    }
    expect(cuts.filter(({ isCut }) => isCut).length).toBeGreaterThan(positions.length / 2);
    // Two questions to the model for each run, and one effect: no connection started anything anew.
    expect(bed.models.supportAgent.requests).toHaveLength(2 * (cuts.length + 1));
    expect([...bed.effects.values()].every((count) => count === 1)).toBe(true);
    expect(bed.effects.size).toBe(cuts.length + 1);
  });

  test("by something else that speaks is asked for again", async () => {
    const bed = bedOf(memoryStore(), { support: looksUp });
    for (const position of [0, 40, 150, 300]) expect(await runCut(bed, position, "garbage")).toMatchObject({ isCut: true });
  });
});

describe("a server that listens again", () => {
  test("with an older state than was shown shows nothing older", async () => {
    const fetch = answering(
      () => speaking([started, streaming(0, "Hel"), streaming(0, "Hello"), streaming(1, "Goo")]),
      () => speaking([started, streaming(0, "Hello"), streaming(1, "G"), streaming(1, "Goo"), streaming(1, "Good da"), ...ended]),
    );
    const run = clientOver(fetch).supportAgent.run("Hi");
    const frames = await framesOf(run);
    const texts = frames.map((frame) => (frame.status === "streaming" ? `${frame.round} ${frame.output}` : frame.status));
    expect(texts).toEqual(["0 Hel", "0 Hello", "1 Goo", "1 Good da", "completed"]);
    expect(fetch).toHaveBeenCalledTimes(2);
  });

  test.each([0, 200, 350, 600])("is another one, which knows what was stored: cut at %i", async (position) => {
    const store = memoryStore();
    const support = (request: ScriptRequest): ScriptReply => ({ ...looksUp(request), delayMs: 60 });
    const one = bedOf(store, { support });
    const two = bedOf(store, {});
    let requests = 0;
    const cutting = cuttingAt(position, "break", async (...request) => wayTo((requests += 1) === 1 ? one : two)(...request));
    const run = clientOver(cutting.fetch).supportAgent.run({ content: "Where is A-1?", variables });
    await framesOf(run);
    expect(await run.result).toMatchObject({ status: "completed", output: "Lost, désolée 🙂" });
    expect(await run.evaluations).toHaveLength(1);
    expect([cutting.isCut, requests, one.models.supportAgent.requests.length]).toEqual([true, 2, 2]);
  });

  test("is reached behind a gateway that answered 502 meanwhile", async () => {
    const bad = () => new Response("<html>502 Bad Gateway</html>", { status: 502, headers: { "content-type": "text/html" } });
    const fetch = answering(() => speaking([started, streaming(0, "Go")]), bad, () => speaking([started, ...ended]));
    expect(await clientOver(fetch).supportAgent.run("Hi").result).toEqual(result);
    const keys = fetch.mock.calls.map(([, init]) => new Headers(init?.headers).get("idempotency-key"));
    expect(new Set(keys).size).toBe(1);

    const gone = answering(() => speaking([started]), bad, bad, bad, bad);
    const run = clientOver(gone).supportAgent.run("Hi");
    await expect(run.result).rejects.toMatchObject({ code: "network" });
    await expect(run.evaluations).rejects.toMatchObject({ code: "network" });
    expect(gone).toHaveBeenCalledTimes(4);
  });

  test("says for ever what nobody understands: the outcome is unknown", async () => {
    const garbage = () => speaking([started, "event: frame\ndata: <html>\n\n"]);
    const fetch = answering(...Array.from({ length: 9 }, () => garbage));
    await expect(clientOver(fetch).supportAgent.run("Hi").result).rejects.toMatchObject({ code: "unexpected" });
    expect(fetch).toHaveBeenCalledTimes(3);
  });

  test("fails to read its store: the run is not said to have failed", async () => {
    const away = says("error", { code: "storage_error", message: "away", retryable: true });
    const fetch = answering(...Array.from({ length: 9 }, () => () => speaking([started, away, says("end", {})])));
    await expect(clientOver(fetch).supportAgent.run("Hi").result).rejects.toMatchObject({ code: "storage_error" });
    expect(fetch).toHaveBeenCalledTimes(3);
    const passing = answering(() => speaking([started, away, says("end", {})]), () => speaking([started, ...ended]));
    expect(await clientOver(passing).supportAgent.run("Hi").result).toEqual(result);
  });
});

describe("silence", () => {
  beforeEach(() => void vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] }));
  afterEach(() => void vi.useRealTimers());

  /** Waits in real time, since what isn't timed takes its time all the same. */
  async function until(isTrue: () => boolean): Promise<void> {
    while (!isTrue()) await new Promise((resolve) => setImmediate(resolve));
  }

  const hanging = (pieces: readonly string[]) => {
    const body = new ReadableStream<Uint8Array>({
      start(sink) {
        for (const piece of pieces) sink.enqueue(new TextEncoder().encode(piece));
      },
    });
    return new Response(body, { headers: { "content-type": "text/event-stream" } });
  };

  test("of half a minute is a connection that is gone", async () => {
    const fetch = answering(() => hanging([started, streaming(0, "Go")]), () => hanging([started, ...ended]));
    const run = clientOver(fetch).supportAgent.run("Hi");
    await until(() => run.snapshot !== undefined);
    await vi.advanceTimersByTimeAsync(29_999);
    expect(fetch).toHaveBeenCalledTimes(1);
    await vi.advanceTimersByTimeAsync(10);
    expect(fetch).toHaveBeenCalledTimes(2);
    expect(await run.result).toEqual(result);
  });

  test("of a server is not the silence of its connection", async () => {
    const bed = bedOf(memoryStore(), { support: [{ text: "Well", delayMs: 95_000 }] });
    const fetch = vi.fn<typeof globalThis.fetch>(wayTo(bed));
    const run = clientOver(fetch).supportAgent.run({ content: "Think", variables });
    await until(() => bed.models.supportAgent.requests.length === 1);
    for (let second = 0; second < 96; second += 1) await vi.advanceTimersByTimeAsync(1000);
    expect(await run.result).toMatchObject({ status: "completed", output: "Well" });
    expect(fetch).toHaveBeenCalledTimes(1);
  });
});

describe("over sockets", () => {
  async function listening(support: Parameters<typeof scriptedModel>[0]) {
    const model = scriptedModel(support);
    const server = await serve({
      agents,
      store: memoryStore(),
      port: 0,
      implementations: {
        supportAgent: {
          model,
          instructions: "You help.",
          actions: { lookup_order: () => ({ status: "lost" }), refund: () => ({}) },
          skills: { incident_triage: "Calm." },
          evaluations: { response_quality: async () => ({ groundedness: { score: 1, reasoning: "It is." } }) },
        },
      },
    });
    onTestFinished(() => server.close());
    return { server, model, orcha: clientOver(globalThis.fetch, { baseUrl: server.url }) };
  }

  test("a connection that is cut, in its headers too, is made again", async () => {
    const { server, model } = await listening(looksUp);
    async function runCutAt(position: number): Promise<number> {
      const proxy = await proxyCuttingAt(position, server.port);
      const run = clientOver(globalThis.fetch, { baseUrl: proxy.url }).supportAgent.run("Where is A-1?");
      await framesOf(run);
      expect(await run.result).toMatchObject({ status: "completed", output: "Lost, désolée 🙂" });
      expect(await run.evaluations).toMatchObject([{ status: "passed" }]);
      return proxy.bytes();
    }
    const total = await runCutAt(Infinity);
    const positions = Array.from({ length: Math.ceil(total / 97) - 1 }, (_, index) => total - 97 * (index + 1));
    expect(positions.length).toBeGreaterThan(8);
    // All at once: each of them mostly waits.
    await Promise.all(positions.map(runCutAt));
    expect(model.requests).toHaveLength(2 * (positions.length + 1));
  });

  test("a reader that doesn't read costs nothing, and gets the newest state and the end", async () => {
    const text = "x".repeat(200_000);
    const { server, orcha } = await listening([{ text, chunkSize: 200 }]);
    const input = { json: { agent: "supportAgent", sessionId: "ses_slow", content: "Talk" } };
    const body = JSON.stringify(input);
    const socket = connect(server.port, "127.0.0.1");
    onTestFinished(() => void socket.destroy());
    socket.pause();
    socket.write(
      `POST /rpc/run HTTP/1.1\r\nhost: 127.0.0.1:${server.port}\r\ncontent-type: application/json\r\naccept: text/event-stream\r\n` +
        `connection: close\r\ncontent-length: ${body.length}\r\n\r\n${body}`,
    );
    await expect.poll(async () => (await orcha.supportAgent.get.safe("ses_slow")).data?.runStatus).toBe("completed");
    let received = 0;
    let end = "";
    for await (const chunk of socket) {
      received += (chunk as Buffer).byteLength;
      end = (end + String(chunk)).slice(-250_000);
    }
    // All frames together are 100 MB. What came is what the two ends of the socket hold, and what was read at the end.
    expect(received).toBeLessThan(12_000_000);
    expect(end).toContain("event: result");
    expect(end).toContain("event: end");
  });

  test("stop ends a run at once, and keeps what it said", async () => {
    const { orcha } = await listening([monologue]);
    const run = orcha.supportAgent.run("Talk");
    for await (const frame of run.stream) if (frame.status === "streaming") break;
    const since = performance.now();
    expect(await run.stop()).toMatchObject({ status: "active", runStatus: "stopped" });
    expect(performance.now() - since).toBeLessThan(20_000);
    expect(await run.result).toMatchObject({ status: "stopped", output: expect.stringMatching(/^A very/) as unknown });
    const { items } = await orcha.supportAgent.history(run.sessionId);
    expect(items.at(-1)).toMatchObject({ type: "message", role: "assistant", incomplete: true });
  });

  test("stop ends a run whose model listens to nothing", async () => {
    const { orcha } = await listening([() => new Promise(() => {})]);
    const run = orcha.supportAgent.run("Talk");
    await expect.poll(async () => (await orcha.supportAgent.get.safe(run.sessionId)).data?.runStatus).toBe("running");
    const since = performance.now();
    expect(await run.stop()).toMatchObject({ runStatus: "stopped" });
    expect(performance.now() - since).toBeLessThan(20_000);
    expect(await run.result).toMatchObject({ status: "stopped" });
  });

  test("whoever stops to listen leaves the run alone", async () => {
    const { server, orcha } = await listening([{ text: "One, two, three", chunkSize: 5, delayMs: 20 }]);
    const run = orcha.supportAgent.run("Count");
    const reader = run.stream.getReader();
    await reader.read();
    await reader.cancel();
    expect(await run.result).toMatchObject({ status: "completed", output: "One, two, three" });

    const other = await listening([{ text: "One, two, three", chunkSize: 5, delayMs: 20 }]);
    const response = await fetch(`${other.server.url}/rpc/run`, {
      method: "POST",
      headers: { "content-type": "application/json", accept: "text/event-stream" },
      body: JSON.stringify({ json: { agent: "supportAgent", sessionId: "ses_left", content: "Count" } }),
    });
    await response.body?.cancel();
    await expect.poll(async () => (await other.orcha.supportAgent.get("ses_left")).lastOutput).toBe("One, two, three");
    expect(await typesOf(other.orcha, "ses_left")).not.toContain("run.stopped");
    expect(server.port).not.toBe(other.server.port);
  });
});
