import { takeTurn } from "./appends.ts";
import type { Bed } from "./bed.ts";
import type { OrchaSide } from "./orcha.ts";
import type { Result } from "./result.ts";
import { places } from "./side.ts";

/** The most round trips of a page, and of an append. */
const [pageTarget, appendTarget] = [1, 2];

/** Opens a server that tells of each statement that it sends. */
export type OpenTraced = (trace: () => void) => Promise<OrchaSide>;

/** Counts the statements that go to the database one after the other: each is a round trip. */
export async function countTrips(bed: Bed, openTraced: OpenTraced): Promise<Result[]> {
  let sent = 0;
  const traced = await openTraced(() => {
    sent += 1;
  });
  const [session] = bed.sessions;
  if (!session) throw new RangeError("a bed without sessions");

  async function count(measure: string, target: number, work: () => Promise<unknown>): Promise<Result> {
    sent = 0;
    await work();
    return { measure, size: bed.items, against: "floor", unit: "trips", base: 1, measured: sent, value: sent, target };
  }

  async function append(side: OrchaSide, withTool: boolean): Promise<void> {
    await side.append(session?.id ?? "", takeTurn(bed, withTool).turn);
  }

  const results: Result[] = [];
  await traced.findPlaces(session.id);
  for (const place of places) results.push(await count(`page, ${place}`, pageTarget, () => traced.page(session.id, place)));
  results.push(
    await count("append cold, first by this server", appendTarget, () => append(traced, false)),
    await count("append, plain turn", appendTarget, () => append(traced, false)),
    await count("append, turn with tool", appendTarget, () => append(traced, true)),
    await count("append, plain turn, with key", appendTarget, () => traced.appendOnce(session.id, takeTurn(bed, false).turn)),
  );
  await append(bed.orcha, false);
  results.push(await count("append cold, another server wrote", appendTarget, () => append(traced, false)));
  await traced.close();
  return results;
}
