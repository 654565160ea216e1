import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { openFloor } from "./floor/sqlite.ts";
import { openOrcha, type OrchaSide } from "./orcha.ts";
import type { Side, Synchronous } from "./side.ts";

/** A session of both sides, and the number of the turn that comes next. */
export interface SessionOfBed {
  id: string;
  next: number;
}

/** Sessions of one length, in a file of the floor and in a file of Orcha. */
export interface Bed {
  items: number;
  sessions: SessionOfBed[];
  /** How many turns were handed out: the sessions take theirs in rotation. */
  taken: number;
  floorFile: string;
  orchaFile: string;
  floor: Side;
  orcha: OrchaSide;
  /** The floor with Orcha's items of the first session in it, to tell what is the store's and what is the JSON's. */
  mirror: Side;
}

/** Many short sessions, so that what is appended leaves them as short as they are. */
function sessionCount(items: number): number {
  return items <= 100 ? 100 : items <= 10_000 ? 2 : 1;
}

/** Makes both files and fills them. */
export async function makeBed(directory: string, items: number): Promise<Bed> {
  mkdirSync(directory, { recursive: true });
  const floorFile = join(directory, `floor-${items}.db`);
  const orchaFile = join(directory, `orcha-${items}.db`);
  const mirror = openFloor(join(directory, `mirror-${items}.db`), "NORMAL");
  const sides = await openSides(floorFile, orchaFile, "NORMAL");
  const bed: Bed = { items, sessions: [], taken: 0, floorFile, orchaFile, mirror, ...sides };
  for (let index = 0; index < sessionCount(items); index += 1) {
    const id = `session-${items}-${String(index).padStart(4, "0")}`;
    const nextOfFloor = await bed.floor.seed(id, items);
    const nextOfOrcha = await bed.orcha.seed(id, items);
    bed.sessions.push({ id, next: Math.max(nextOfFloor, nextOfOrcha) });
  }
  const first = bed.sessions[0]?.id ?? "";
  mirror.seedItems(first, await bed.orcha.everything(first));
  return bed;
}

/** Opens a bed's files again, to append under another setting. */
export async function reopenBed(bed: Bed, synchronous: Synchronous): Promise<Bed> {
  await closeSides(bed);
  return { ...bed, ...(await openSides(bed.floorFile, bed.orchaFile, synchronous)) };
}

export async function closeBed(bed: Bed): Promise<void> {
  await closeSides(bed);
  await bed.mirror.close();
}

async function closeSides({ floor, orcha }: Bed): Promise<void> {
  await floor.close();
  await orcha.close();
}

async function openSides(floorFile: string, orchaFile: string, synchronous: Synchronous) {
  return { floor: openFloor(floorFile, synchronous), orcha: await openOrcha(orchaFile, synchronous) };
}
