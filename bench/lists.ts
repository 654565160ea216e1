import type { Effort } from "./effort.ts";
import { metadataOf, type ListPage, type ListSide } from "./list-side.ts";
import type { OrchaList } from "./orcha-list.ts";
import { compare, type Result, type Rounds } from "./result.ts";
import { p50 } from "./sampling.ts";
import { nextTurn, turnOf } from "./workload.ts";

/** The most that a list may take, as a multiple of the floor's. */
const floorTarget = 1.5;
/** … with the most sessions, as a multiple of the one with the fewest. */
const growthTarget = 1.2;

/** So many sessions on both sides, and the database's name. */
export interface ListBed {
  name: string;
  sessions: number;
  floor: ListSide;
  orcha: OrchaList;
}

interface Series {
  bed: ListBed;
  page: ListPage;
  floor: Rounds;
  orcha: Rounds;
}

/** Measures the list by one metadata entry, and what the entries cost an append; beds have the fewest sessions first. */
export async function measureLists(beds: readonly ListBed[], effort: Effort): Promise<Result[]> {
  const pages: readonly ListPage[] = ["first", "second"];
  const all: Series[] = beds.flatMap((bed) => pages.map((page) => ({ bed, page, floor: [], orcha: [] })));
  for (let round = 0; round <= effort.rounds; round += 1) {
    for (const { bed, page, floor, orcha } of all) {
      const floorMs = await p50(effort.pageSamples, () => bed.floor.list(page));
      const orchaMs = await p50(effort.pageSamples, () => bed.orcha.list(page));
      // The first round warms up.
      if (round === 0) continue;
      floor.push(floorMs);
      orcha.push(orchaMs);
    }
  }
  return [
    ...all.map(({ bed, page, floor, orcha }) =>
      compare({ measure: `${bed.name} list, ${page} page`, size: bed.sessions, against: "floor", target: floorTarget }, floor, orcha),
    ),
    ...pages.flatMap((page) => growthOf(all, page)),
    ...(await measureEntries(beds, effort)),
  ];
}

function growthOf(all: readonly Series[], page: ListPage): Result[] {
  const [few, ...others] = all.filter((series) => series.page === page);
  const many = others.at(-1);
  if (!few || !many) return [];
  const against = `orcha at ${few.bed.sessions}`;
  const line = { measure: `${many.bed.name} list, ${page} page`, size: many.bed.sessions, against, target: growthTarget };
  return [compare(line, few.orcha, many.orcha)];
}

/** Shown, not judged: appends move the session in the index of each of its metadata entries. */
async function measureEntries(beds: readonly ListBed[], effort: Effort): Promise<Result[]> {
  const results: Result[] = [];
  for (const { name, sessions, orcha } of beds) {
    const [plain, listed] = ["plain", "listed"];
    await orcha.add(plain, sessions);
    await orcha.add(listed, sessions, metadataOf(sessions));
    const base: Rounds = [];
    const measured: Rounds = [];
    let next = 0;
    for (let round = 0; round <= effort.rounds; round += 1) {
      for (const [session, rounds] of [[plain, base], [listed, measured]] as const) {
        const milliseconds = await p50(effort.appendSamples, () => {
          next = nextTurn(next + 1, false);
          return orcha.append(session, turnOf(session, next));
        });
        if (round > 0) rounds.push(milliseconds);
      }
    }
    const line = { measure: `${name} append, 3 metadata entries`, size: sessions, against: "orcha without" };
    results.push(compare(line, base, measured));
  }
  return results;
}
