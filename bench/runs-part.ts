import { join } from "node:path";
import { startChild, type Child } from "./child.ts";
import type { Effort } from "./effort.ts";
import type { Part } from "./part.ts";
import { compare, type Result, type Rounds } from "./result.ts";
import { answerMs, tempos, type TempoName } from "./runs/tempo.ts";
import { straight, throughOrcha, type Timed, type Way } from "./runs/ways.ts";
import { median } from "./sampling.ts";
import type { Synchronous } from "./side.ts";

/** The most that a run may take, as multiples of the same question without Orcha. */
const targets: Partial<Record<TempoName, number>> = { quick: 1.25, usual: 1.05 };

/** Runs at once, and the most memory that each of them may take on the server, in kB of 1,024 bytes. */
const crowd = 200;
const crowdTarget = 1024;

/** A server on a file of its own, and runs through it. */
interface Server {
  synchronous: Synchronous;
  child: Child;
  way: Way;
}

/** Runs of agents: what the server adds to the time that the model takes, and what many at once take. */
export async function runsPart(directory: string, effort: Effort): Promise<Omit<Part, "seconds">> {
  const children: Child[] = [];
  try {
    const models = await startChild("runs/model-server-child", []);
    children.push(models);
    const modelPort = Number(models.hello);
    const start = async (synchronous: Synchronous): Promise<Server> => {
      const child = await startChild("runs/server-child", [join(directory, `runs-${synchronous}.db`), String(modelPort), synchronous]);
      children.push(child);
      return { synchronous, child, way: throughOrcha(Number(child.hello)) };
    };
    const floor = straight(modelPort);
    const full = await start("FULL");
    const results = [
      ...(await one("quick", effort.runs.quick, effort, floor, [full, await start("NORMAL")])),
      ...(await one("usual", effort.runs.usual, effort, floor, [full])),
      ...(await many(full, effort, floor)),
    ];
    const title = "Runs: a question to a model through Orcha's server on SQLite, against the AI SDK's streamText";
    return { name: "runs", title, sizes: "ms of model", values: "ratio", results };
  } finally {
    for (const child of children) child.stop();
  }
}

async function one(tempo: TempoName, samples: number, { rounds }: Effort, floor: Way, servers: readonly Server[]): Promise<Result[]> {
  const ways = [floor, ...servers.map(({ way }) => way)];
  const measured = ways.map((): Record<keyof Timed, Rounds> => ({ first: [], whole: [] }));
  // The first round warms up.
  for (let round = 0; round <= rounds; round += 1) {
    const times: Timed[][] = ways.map(() => []);
    for (let sample = 0; sample < samples; sample += 1) {
      for (const [index, way] of ways.entries()) times[index]?.push(await way(tempo));
    }
    if (round === 0) continue;
    for (const [index, side] of measured.entries()) {
      for (const moment of ["first", "whole"] as const) side[moment].push(median(times[index]?.map((timed) => timed[moment]) ?? []));
    }
  }
  const [base, ...sides] = measured;
  return servers.flatMap(({ synchronous }, index) => {
    const line = { size: answerMs(tempos[tempo]), against: "streamText", target: synchronous === "FULL" ? targets[tempo] : undefined };
    return [
      compare({ ...line, measure: `${synchronous}, to the first text` }, base?.first ?? [], sides[index]?.first ?? []),
      compare({ ...line, measure: `${synchronous}, to the whole answer` }, base?.whole ?? [], sides[index]?.whole ?? []),
    ];
  });
}

async function many({ child: server, way: orcha }: Server, { runs }: Effort, floor: Way): Promise<Result[]> {
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
