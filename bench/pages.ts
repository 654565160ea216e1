import type { Bed } from "./bed.ts";
import type { Effort } from "./effort.ts";
import { compare, type Result, type Rounds } from "./result.ts";
import { p50 } from "./sampling.ts";
import { pageSize, places, type Place } from "./side.ts";

/** The most that a page of the longest session may take, as a multiple of the shortest one's. */
const growthTarget = 1.1;
/** … anywhere in a session, as a multiple of the newest one's. */
const placeTarget = 1.2;

interface Series {
  bed: Bed;
  place: Place;
  floor: Rounds;
  mirror: Rounds;
  orcha: Rounds;
}

/**
 * Measures pages of 50 as objects, everywhere in sessions of every length; `floorTarget` is the most that one may take,
 * as a multiple of the floor's page of the same place.
 */
export async function measurePages(beds: readonly Bed[], effort: Effort, floorTarget: number): Promise<Result[]> {
  const all: Series[] = beds.flatMap((bed) => places.map((place) => ({ bed, place, floor: [], mirror: [], orcha: [] })));
  for (const { bed, place } of all) await checkPage(bed, place);
  for (let round = 0; round <= effort.rounds; round += 1) {
    for (const { bed, place, floor, mirror, orcha } of all) {
      const id = sessionOf(bed);
      const floorMs = await p50(effort.pageSamples, () => bed.floor.page(id, place));
      const orchaMs = await p50(effort.pageSamples, () => bed.orcha.page(id, place));
      const mirrorMs = await p50(effort.pageSamples, () => bed.mirror.page(id, place));
      // The first round warms up.
      if (round === 0) continue;
      floor.push(floorMs);
      mirror.push(mirrorMs);
      orcha.push(orchaMs);
    }
  }
  return [
    ...all.map((series) => againstFloor(series, floorTarget)),
    ...all.filter(({ place }) => place === "newest").map(againstMirror),
    ...againstShortest(all),
    ...beds.map((bed) => againstNewest(all, bed)),
  ];
}

function againstFloor({ bed, place, floor, orcha }: Series, target: number): Result {
  return compare({ measure: `page, ${place}`, size: bed.items, against: "floor", target }, floor, orcha);
}

/** Shown, not judged: the floor with the very same JSON, so that all that is left is Orcha's own doing. */
function againstMirror({ bed, place, mirror, orcha }: Series): Result {
  return compare({ measure: `page, ${place}`, size: bed.items, against: "floor, same JSON" }, mirror, orcha);
}

function againstShortest(all: readonly Series[]): Result[] {
  const shortest = all[0]?.bed.items;
  const longest = all.at(-1)?.bed;
  return all
    .filter(({ bed }) => bed === longest)
    .flatMap((long) => {
      const short = all.find(({ bed, place }) => bed.items === shortest && place === long.place);
      const line = { measure: `page, ${long.place}`, size: long.bed.items, against: `orcha at ${shortest}`, target: growthTarget };
      return short ? [compare(line, short.orcha, long.orcha)] : [];
    });
}

/** The place that is worst of all. */
function againstNewest(all: readonly Series[], bed: Bed): Result {
  const ofBed = all.filter((series) => series.bed === bed);
  const newest = ofBed.find(({ place }) => place === "newest")?.orcha ?? [];
  const [worst] = ofBed
    .filter(({ place }) => place !== "newest")
    .map(({ place, orcha }) =>
      compare({ measure: `page, ${place} (worst)`, size: bed.items, against: "orcha newest", target: placeTarget }, newest, orcha),
    )
    .sort((left, right) => right.value - left.value);
  if (!worst) throw new RangeError("no places to compare");
  return worst;
}

/** Fast is no use where the page is not the same. */
async function checkPage(bed: Bed, place: Place): Promise<void> {
  for (const side of [bed.floor, bed.orcha, bed.mirror]) {
    const { length } = await side.page(sessionOf(bed), place);
    if (length !== pageSize) throw new RangeError(`a ${place} page of ${bed.items} items holds ${length}`);
  }
}

/** One session of each length is read, so that all are equally warm. */
function sessionOf({ sessions }: Bed): string {
  return sessions[0]?.id ?? "";
}
