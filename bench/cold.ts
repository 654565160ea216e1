import { takeTurn } from "./appends.ts";
import type { Bed } from "./bed.ts";
import type { Effort } from "./effort.ts";
import type { OrchaSide } from "./orcha.ts";
import { compare, type Result, type Rounds } from "./result.ts";
import { median, p50 } from "./sampling.ts";

/** The most that an append may take where this process doesn't hold the session's head, as a multiple of the floor's. */
const coldTarget = 2.5;

interface Series {
  bed: Bed;
  floor: Rounds;
  overtaken: Rounds;
  fresh: Rounds;
}

/** Opens another server on the same database. */
export type OpenOther = () => Promise<OrchaSide>;

/** Measures appends to sessions that another server wrote last, and to sessions that this one never wrote. */
export async function measureCold(beds: readonly Bed[], effort: Effort, openOther: OpenOther): Promise<Result[]> {
  const all: Series[] = beds.map((bed) => ({ bed, floor: [], overtaken: [], fresh: [] }));
  const other = await openOther();
  for (let round = 0; round <= effort.rounds; round += 1) {
    for (const { bed, floor, overtaken, fresh } of all) {
      const floorMs = await timeOf(bed, effort.appendSamples, bed.floor);
      const overtakenMs = await timeOf(bed, effort.appendSamples, bed.orcha, other);
      const freshMs = await freshTimeOf(bed, effort, openOther);
      // The first round warms up.
      if (round === 0) continue;
      floor.push(floorMs);
      overtaken.push(overtakenMs);
      fresh.push(freshMs);
    }
  }
  await other.close();
  return all.flatMap(({ bed, floor, overtaken, fresh }) => {
    const line = { size: bed.items, against: "floor", target: coldTarget };
    return [
      compare({ ...line, measure: "append cold, another server wrote" }, floor, overtaken),
      compare({ ...line, measure: "append cold, first by this server" }, floor, fresh),
    ];
  });
}

type Appends = Pick<OrchaSide, "append">;

/** The median of appends of plain turns; `before` appends one ahead of each, off the clock. */
async function timeOf(bed: Bed, samples: number, side: Appends, before?: Appends): Promise<number> {
  const times: number[] = [];
  for (let sample = 0; sample < samples; sample += 1) {
    const { id, turn } = takeTurn(bed, false);
    await before?.append(id, turn);
    times.push(await p50(1, () => side.append(id, turn)));
  }
  return median(times);
}

/** A new server appends once to each session; before, it warms up on a session of its own. */
async function freshTimeOf(bed: Bed, effort: Effort, openOther: OpenOther): Promise<number> {
  const fresh = await openOther();
  await warmUp(fresh, bed);
  const milliseconds = await timeOf(bed, Math.min(effort.appendSamples, bed.sessions.length), fresh);
  await fresh.close();
  return milliseconds;
}

/** Prepares the statements of the connection, those that read a session's head and those that write. */
async function warmUp(side: OrchaSide, bed: Bed): Promise<void> {
  const { turn } = takeTurn(bed, false);
  for (let index = 0; index < 10; index += 1) {
    const name = `warm-up-${crypto.randomUUID()}`;
    await side.seed(name, 2);
    await side.append(name, turn);
  }
}
