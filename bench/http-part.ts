import { join } from "node:path";
import { agent } from "./agents.ts";
import { startChild, type Child } from "./child.ts";
import type { Effort } from "./effort.ts";
import type { Load, Loaded } from "./http-load-child.ts";
import { openOrcha } from "./orcha-file.ts";
import type { Part } from "./part.ts";
import { compare, type Result, type Rounds } from "./result.ts";
import { pageSize } from "./side.ts";

/** The fewest requests per second, and the most processor time for each, as multiples of the floor's. */
const rateTarget = 0.55;
const cpuTarget = 1.8;

const items = 10_000;
const session = "http";
const connections = 16;
const roundMs = 1000;
const rounds = 5;
/** Ends a round early, should a server ever be that fast. */
const mostRequests = 100_000;

/** A way to ask for the newest page. */
interface Way {
  name: string;
  server: Child;
  port: number;
  path: string;
  rates: Rounds;
  /** Processor time of the server for a request, in microseconds. */
  cpu: Rounds;
}

/** The newest page over HTTP, by RPC and by REST, under load from another process. */
export async function httpPart(directory: string, effort: Effort): Promise<Omit<Part, "seconds">> {
  const file = join(directory, "http.db");
  const seeding = await openOrcha(file, "NORMAL");
  await seeding.seed(session, items);
  await seeding.close();

  const children: Child[] = [];
  try {
    const floorServer = await startChild("http-server-child", ["floor", file]);
    children.push(floorServer);
    const orchaServer = await startChild("http-server-child", ["orcha", file]);
    children.push(orchaServer);
    const loader = await startChild("http-load-child", []);
    children.push(loader);

    const floor = wayOf("floor", floorServer, `/history/${session}`);
    const rpc = wayOf("RPC", orchaServer, `/rpc/history?data=${encodeURIComponent(JSON.stringify({ json: inputOf() }))}`);
    const rest = wayOf("REST", orchaServer, `/api/agents/${agent}/sessions/${session}/history?page=1&pageSize=${pageSize}`);
    await checkSame([floor, rpc, rest]);
    for (let round = 0; round <= rounds; round += 1) {
      // The first round warms up.
      for (const way of [floor, rpc, rest]) await measure(way, loader, effort, round > 0);
    }
    const title = `HTTP: the newest page of ${pageSize}, ${connections} connections of another process`;
    const results = [rpc, rest].flatMap((way) => resultsOf(way, floor));
    return { name: "http", title, sizes: "items", values: "ratio", results };
  } finally {
    for (const child of children) child.stop();
  }
}

function inputOf(): object {
  return { agent, sessionId: session, page: 1, pageSize };
}

function wayOf(name: string, server: Child & { hello: unknown }, path: string): Way {
  return { name, server, port: Number(server.hello), path, rates: [], cpu: [] };
}

/** Fast is no use where the page is not the same. */
async function checkSame(ways: readonly Way[]): Promise<void> {
  const pages = await Promise.all(
    ways.map(async ({ name, port, path }) => {
      const response = await fetch(`http://127.0.0.1:${port}${path}`);
      const text = await response.text();
      if (!response.ok) throw new Error(`${name} answers ${response.status}: ${text.slice(0, 300)}`);
      const answer = JSON.parse(text) as { items?: unknown; json?: { items?: unknown } };
      return JSON.stringify(answer.items ?? answer.json?.items);
    }),
  );
  if (pages.some((page) => page !== pages[0])) throw new RangeError("the pages differ");
}

async function measure({ server, port, path, rates, cpu }: Way, loader: Child, effort: Effort, counts: boolean): Promise<void> {
  const load: Load = { port, path, connections, milliseconds: roundMs * effort.httpShare, requests: mostRequests };
  const before = await cpuOf(server);
  const { requests, milliseconds } = (await loader.ask(load)) as Loaded;
  const after = await cpuOf(server);
  if (!counts) return;
  rates.push((requests / milliseconds) * 1000);
  cpu.push((after - before) / requests);
}

async function cpuOf(server: Child): Promise<number> {
  const { user, system } = (await server.ask("cpu")) as NodeJS.CpuUsage;
  return user + system;
}

function resultsOf({ name, rates, cpu }: Way, floor: Way): Result[] {
  const line = { size: items, against: "floor" };
  return [
    compare({ ...line, measure: `${name}, requests per second`, unit: "/s", target: rateTarget, least: true }, floor.rates, rates),
    compare({ ...line, measure: `${name}, processor time of a request`, unit: "µs", target: cpuTarget }, floor.cpu, cpu),
  ];
}
