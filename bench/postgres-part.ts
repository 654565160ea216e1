import { postgresStore } from "@orcha/server/postgres";
import { measureAppends } from "./appends.ts";
import { makeBed, type Bed } from "./bed.ts";
import { vacuum, type Cluster } from "./cluster.ts";
import { measureCold } from "./cold.ts";
import type { Effort } from "./effort.ts";
import { openPostgresFloor } from "./floor/postgres.ts";
import { orchaOn, type OrchaSide } from "./orcha.ts";
import { measurePages } from "./pages.ts";
import type { Part } from "./part.ts";
import { countTrips } from "./trips.ts";
import { measureWriters } from "./writers.ts";

/** The most that a page may take, as a multiple of the floor's page of the same place. */
const pageTarget = 1.2;

/** Pages and appends on Postgres, each side in a database of its own. */
export async function postgresPart(cluster: Cluster, effort: Effort): Promise<Omit<Part, "seconds">> {
  const [floorUrl, orchaUrl, mirrorUrl] = [
    await cluster.database("floor"),
    await cluster.database("orcha"),
    await cluster.database("mirror"),
  ];
  const open = async (trace?: () => void): Promise<OrchaSide> =>
    orchaOn(await postgresStore({ connectionString: orchaUrl, ...(trace ? { trace } : {}) }));
  const sides = { floor: await openPostgresFloor(floorUrl), orcha: await open(), mirror: await openPostgresFloor(mirrorUrl) };
  const beds: Bed[] = [];
  for (const items of effort.lengths) beds.push(await makeBed(sides, items));
  for (const url of [floorUrl, orchaUrl, mirrorUrl]) await vacuum(url);

  const [, middle] = beds;
  if (!middle) throw new RangeError("trips are counted at the second length");
  const results = await measurePages(beds, effort, pageTarget);
  results.push(...(await measureAppends(beds, effort, "append")));
  results.push(...(await measureCold(beds, effort, open)));
  results.push(await measureWriters(middle, effort));
  results.push(...(await countTrips(middle, open)));
  for (const side of [sides.floor, sides.orcha, sides.mirror]) await side.close();

  const title = "Postgres: pages and appends";
  return { name: "postgres", title, sizes: "items", values: "ratio", notes: cluster.about, results };
}
