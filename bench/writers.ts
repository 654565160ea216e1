import { takeTurn, type Assigned } from "./appends.ts";
import { addSession, type Bed } from "./bed.ts";
import type { Effort } from "./effort.ts";
import { compare, type Result, type Rounds } from "./result.ts";
import type { Side } from "./side.ts";

/** How many write at once, each to its own session. */
const writers = 8;
/** 0.7 of the floor's turns per second. */
const target = 1 / 0.7;
/** How long the sessions are to begin with, in items. */
const items = 100;

/** Measures how long a turn takes on average while eight writers append at once. */
export async function measureWriters({ floor, orcha, mirror }: Bed, effort: Effort): Promise<Result> {
  const lanes: Bed[] = [];
  for (let index = 0; index < writers; index += 1) {
    const session = await addSession({ floor, orcha }, `writer-${index}`, items);
    lanes.push({ floor, orcha, mirror, items, sessions: [session], taken: 0 });
  }
  const base: Rounds = [];
  const measured: Rounds = [];
  for (let round = 0; round <= effort.rounds; round += 1) {
    const turns = lanes.map((lane) => Array.from({ length: effort.writerTurns }, () => takeTurn(lane, false)));
    const floorMs = await timePerTurn(floor, turns);
    const orchaMs = await timePerTurn(orcha, turns);
    // The first round warms up.
    if (round === 0) continue;
    base.push(floorMs);
    measured.push(orchaMs);
  }
  return compare({ measure: "append, 8 writers at once, a turn", size: items, against: "floor", target }, base, measured);
}

async function timePerTurn(side: Side, lanes: readonly (readonly Assigned[])[]): Promise<number> {
  const start = performance.now();
  await Promise.all(
    lanes.map(async (turns) => {
      for (const { id, turn } of turns) await side.append(id, turn);
    }),
  );
  return (performance.now() - start) / lanes.flat().length;
}
