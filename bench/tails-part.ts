import { join } from "node:path";
import { agent } from "./agents.ts";
import { startChild, type Child } from "./child.ts";
import type { Effort } from "./effort.ts";
import { openOrcha } from "./orcha-file.ts";
import type { Part } from "./part.ts";
import { compare, type Result, type Rounds } from "./result.ts";
import type { Delivered, TailsLoad } from "./tails-load-child.ts";

/** How much of the floor's time and processor a delivery may take. */
const lagTarget = 5;

const sessions = 100;
const everyMs = 10;
const rounds = 3;

/** A server with its readers. */
interface Way {
  name: string;
  server: Child;
  port: number;
  listenPath: (session: string) => string;
  writePath: (session: string) => string;
  body: string;
  lags: Rounds;
  cpu: Rounds;
  memory: Rounds;
}

/** Many tails on one server, beside a bare route of events that sends as many bytes and stores nothing. */
export async function tailsPart(directory: string, { tails, tailWrites }: Effort): Promise<Omit<Part, "seconds">> {
  const file = join(directory, "tails.db");
  const seeding = await openOrcha(file, "NORMAL");
  for (let index = 0; index < sessions; index += 1) await seeding.seed(`tail-${index}`, 20);
  await seeding.close();

  const children: Child[] = [];
  async function start(program: string, parameters: readonly string[]) {
    const child = await startChild(program, parameters);
    children.push(child);
    return child;
  }
  try {
    const orchaServer = await start("tails-server-child", ["orcha", file]);
    const floorServer = await start("tails-server-child", ["floor"]);
    const append = JSON.stringify({ messages: [{ role: "user", content: "MARKER" }] });
    const path = (session: string) => `/api/agents/${agent}/sessions/${session}`;
    const frame = await sizeOfFrames(Number(orchaServer.hello), path("tail-0"));
    const shared = { lags: [], cpu: [], memory: [] };
    const orcha: Way = {
      name: "a tail",
      server: orchaServer,
      port: Number(orchaServer.hello),
      listenPath: (session) => `${path(session)}/tail`,
      writePath: (session) => `${path(session)}/append`,
      body: append,
      ...structuredClone(shared),
    };
    const floor: Way = {
      name: "floor",
      server: floorServer,
      port: Number(floorServer.hello),
      listenPath: (session) => `/${session}`,
      writePath: (session) => `/${session}`,
      body: `MARKER${" ".repeat(frame)}`,
      ...structuredClone(shared),
    };
    for (const way of [floor, orcha]) {
      const loader = await start("tails-load-child", []);
      await measure(way, loader, tails, tailWrites);
    }
    const title = `Tails: ${tails} readers of ${sessions} sessions, a message each ${everyMs} ms, on SQLite`;
    return { name: "tails", title, sizes: "readers", values: "ratio", results: resultsOf(orcha, floor, tails) };
  } finally {
    for (const child of children) child.stop();
  }
}

/** The bytes that Orcha sends for one message: the item and the snapshot. */
async function sizeOfFrames(port: number, path: string): Promise<number> {
  const controller = new AbortController();
  const response = await fetch(`http://127.0.0.1:${port}${path}/tail?after=1`, { headers: { accept: "text/event-stream" }, signal: controller.signal });
  let text = "";
  for await (const chunk of response.body ?? []) {
    text += new TextDecoder().decode(chunk as Uint8Array);
    if (text.includes("event: ready")) break;
  }
  controller.abort();
  const [item = ""] = text.split("\n\n");
  const snapshot = text.split("\n\n").find((part) => part.includes("event: snapshot")) ?? "";
  return item.length + snapshot.length;
}

async function measure({ server, port, listenPath, writePath, body, ...rounded }: Way, loader: Child, tails: number, writes: number): Promise<void> {
  const name = (index: number) => `tail-${index % sessions}`;
  const before = await usageOf(server);
  await loader.ask({ do: "listen", port, paths: Array.from({ length: tails }, (_, index) => listenPath(name(index))) } satisfies TailsLoad);
  await new Promise((resolve) => setTimeout(resolve, 500));
  rounded.memory.push(Math.max(0, (await usageOf(server)).rss - before.rss) / tails / 1024);
  for (let round = 0; round <= rounds; round += 1) {
    const start = await usageOf(server);
    const load: TailsLoad = {
      do: "write",
      port,
      everyMs,
      writes: Array.from({ length: writes }, (_, index) => ({ path: writePath(name(index)), body, readers: tails / sessions })),
    };
    const { lags } = (await loader.ask(load)) as Delivered;
    const used = (await usageOf(server)).cpu - start.cpu;
    // The first round warms up.
    if (round === 0) continue;
    rounded.lags.push(lags.sort((left, right) => left - right)[Math.floor(lags.length * 0.99)] ?? Number.NaN);
    rounded.cpu.push(used / lags.length);
  }
}

async function usageOf(server: Child): Promise<{ cpu: number; rss: number }> {
  const { cpu, rss } = (await server.ask("usage")) as { cpu: NodeJS.CpuUsage; rss: number };
  return { cpu: cpu.user + cpu.system, rss };
}

function resultsOf(orcha: Way, floor: Way, size: number): Result[] {
  const line = { size, against: "floor" };
  return [
    compare({ ...line, measure: "delivery, 99 of 100 within", unit: "ms", target: lagTarget }, floor.lags, orcha.lags),
    compare({ ...line, measure: "processor time of a delivery", unit: "µs" }, floor.cpu, orcha.cpu),
    compare({ ...line, measure: "memory of a reader", unit: "kB" }, floor.memory, orcha.memory),
  ];
}
