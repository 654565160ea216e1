import { join } from "node:path";
import { startChild, type Child } from "./child.ts";
import type { Effort } from "./effort.ts";
import type { Part } from "./part.ts";
import { compare, type Result, type Rounds } from "./result.ts";
import { answerMs, tempos, type TempoName } from "./runs/tempo.ts";
import { straight, throughOrcha, type Timed, type Way } from "./runs/ways.ts";
import { median } from "./sampling.ts";

/** The most that a run may take, as multiples of the same question without Orcha. */
const targets: Partial<Record<TempoName, number>> = { quick: 1.25, usual: 1.05 };

/** Runs at once, and the most memory that each of them may take on the server, in kB of 1,024 bytes. */
const crowd = 200;
const crowdTarget = 1024;

/** Runs of agents: what the server adds to the time that the model takes, and what many at once take. */
export async function runsPart(directory: string, effort: Effort): Promise<Omit<Part, "seconds">> {
  const children: Child[] = [];
  try {
    const models = await startChild("runs/model-server-child", []);
    children.push(models);
    const modelPort = Number(models.hello);
    const server = await startChild("runs/server-child", [join(directory, "runs.db"), String(modelPort)]);
    children.push(server);
    const floor = straight(modelPort);
    const orcha = throughOrcha(Number(server.hello));
    const results = [
      ...(await one("quick", effort.runs.quick, effort, floor, orcha)),
      ...(await one("usual", effort.runs.usual, effort, floor, orcha)),
      ...(await many(server, effort, floor, orcha)),
    ];
    const title = "Runs: a question to a model through Orcha's server on SQLite, against the AI SDK's streamText";
    return { name: "runs", title, sizes: "ms of model", values: "ratio", results };
  } finally {
    for (const child of children) child.stop();
  }
}

async function one(tempo: TempoName, samples: number, { rounds }: Effort, floor: Way, orcha: Way): Promise<Result[]> {
  const measured: Record<"floor" | "orcha", Record<keyof Timed, Rounds>> = { floor: { first: [], whole: [] }, orcha: { first: [], whole: [] } };
  // The first round warms up.
  for (let round = 0; round <= rounds; round += 1) {
    const times: Record<"floor" | "orcha", Timed[]> = { floor: [], orcha: [] };
    for (let sample = 0; sample < samples; sample += 1) {
      times.floor.push(await floor(tempo));
      times.orcha.push(await orcha(tempo));
    }
    if (round === 0) continue;
    for (const side of ["floor", "orcha"] as const) {
      for (const moment of ["first", "whole"] as const) measured[side][moment].push(median(times[side].map((timed) => timed[moment])));
    }
  }
  const line = { size: answerMs(tempos[tempo]), against: "streamText", target: targets[tempo] };
  return [
    compare({ ...line, measure: "to the first text" }, measured.floor.first, measured.orcha.first),
    compare({ ...line, measure: "to the whole answer" }, measured.floor.whole, measured.orcha.whole),
  ];
}

async function many(server: Child, { runs }: Effort, floor: Way, orcha: Way): Promise<Result[]> {
  const straightMs: Rounds = [];
  const orchaMs: Rounds = [];
  const kilobytes: Rounds = [];
  for (let round = 0; round <= runs.crowds; round += 1) {
    const before = Number(await server.ask("rss"));
    const alone = await allAtOnce(floor);
    await server.ask("rss");
    const together = await allAtOnce(orcha);
    const most = Number(await server.ask("rss"));
    // The first crowd is the one that memory grows for; later ones live in what is there.
    if (round === 0) kilobytes.push((most - before) / 1024 / crowd);
    else {
      straightMs.push(alone);
      orchaMs.push(together);
    }
  }
  const size = answerMs(tempos.talking);
  return [
    compare({ measure: `${crowd} at once, to the last answer`, size, against: "streamText" }, straightMs, orchaMs),
    compare({ measure: `${crowd} at once, to the last answer`, size, against: "the model alone" }, orchaMs.map(() => size), orchaMs),
    compare({ measure: `${crowd} at once, memory of a run`, size, against: "1,024 kB", unit: "kB", target: 1 }, [crowdTarget], kilobytes),
  ];
}

async function allAtOnce(way: Way): Promise<number> {
  const start = performance.now();
  await Promise.all(Array.from({ length: crowd }, () => way("talking")));
  return performance.now() - start;
}
