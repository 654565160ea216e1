import { join } from "node:path";
import { measureAppends } from "./appends.ts";
import { makeBed, type Bed } from "./bed.ts";
import type { Effort } from "./effort.ts";
import { openFloor } from "./floor/sqlite.ts";
import { footprintOf, footprintText } from "./footprint.ts";
import { openOrcha } from "./orcha-file.ts";
import { measurePages } from "./pages.ts";
import type { Part } from "./part.ts";
import type { Synchronous } from "./side.ts";

/** The most that a page may take, as a multiple of the floor's page of the same place. */
const pageTarget = 1.3;

/** A bed in two files of its own. */
interface FileBed extends Bed {
  floorFile: string;
  orchaFile: string;
}

/** Pages and appends on SQLite, in one process. */
export async function sqlitePart(directory: string, effort: Effort): Promise<Omit<Part, "seconds">> {
  let beds: FileBed[] = [];
  for (const items of effort.lengths) beds.push(await makeFileBed(directory, items));
  const [, middle] = beds;
  if (!middle) throw new RangeError("the footprint is taken from the second length");
  const notes = footprintText(footprintOf(middle));

  const results = await measurePages(beds, effort, pageTarget);
  results.push(...(await measureAppends(beds, effort, "append NORMAL")));
  beds = await Promise.all(beds.map((bed) => reopen(bed, "FULL")));
  results.push(...(await measureAppends(beds, effort, "append FULL")));
  for (const bed of beds) await close(bed);

  return { name: "sqlite", title: "SQLite: pages and appends", sizes: "items", values: "ratio", notes, results };
}

async function makeFileBed(directory: string, items: number): Promise<FileBed> {
  const floorFile = join(directory, `floor-${items}.db`);
  const orchaFile = join(directory, `orcha-${items}.db`);
  const mirror = openFloor(join(directory, `mirror-${items}.db`), "NORMAL");
  const bed = await makeBed({ ...(await openFiles(floorFile, orchaFile, "NORMAL")), mirror }, items);
  return { ...bed, floorFile, orchaFile };
}

/** Opens a bed's files again, to append under another setting. */
async function reopen(bed: FileBed, synchronous: Synchronous): Promise<FileBed> {
  await bed.floor.close();
  await bed.orcha.close();
  return { ...bed, ...(await openFiles(bed.floorFile, bed.orchaFile, synchronous)) };
}

async function close({ floor, orcha, mirror }: Bed): Promise<void> {
  for (const side of [floor, orcha, mirror]) await side.close();
}

async function openFiles(floorFile: string, orchaFile: string, synchronous: Synchronous) {
  return { floor: openFloor(floorFile, synchronous), orcha: await openOrcha(orchaFile, synchronous) };
}
