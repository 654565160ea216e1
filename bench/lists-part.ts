import { join } from "node:path";
import { postgresStore } from "@orcha/server/postgres";
import { sqliteStore } from "@orcha/server/sqlite";
import { vacuum, type Cluster } from "./cluster.ts";
import type { Effort } from "./effort.ts";
import { openPostgresListFloor } from "./floor/postgres-list.ts";
import { openListFloor } from "./floor/sqlite-list.ts";
import type { ListSide } from "./list-side.ts";
import { measureLists, type ListBed } from "./lists.ts";
import { OrchaList } from "./orcha-list.ts";
import type { Part } from "./part.ts";

/** Lists by a metadata entry, among few sessions and among many, on both databases. */
export async function listsPart(directory: string, cluster: Cluster, effort: Effort): Promise<Omit<Part, "seconds">> {
  const results = [];
  for (const make of [
    (sessions: number) => sqliteBed(directory, sessions),
    (sessions: number) => postgresBed(cluster, sessions),
  ]) {
    const beds: ListBed[] = [];
    for (const sessions of effort.lists) beds.push(await make(sessions));
    results.push(...(await measureLists(beds, effort)));
    for (const { floor, orcha } of beds) for (const side of [floor, orcha]) await side.close();
  }
  const title = "Lists: the 20 newest sessions by one metadata entry, which 5 % have";
  return { name: "lists", title, sizes: "sessions", values: "ratio", notes: cluster.about, results };
}

async function sqliteBed(directory: string, sessions: number): Promise<ListBed> {
  const floor = openListFloor(join(directory, `list-floor-${sessions}.db`));
  const orcha = new OrchaList(await sqliteStore({ file: join(directory, `list-orcha-${sessions}.db`), synchronous: "NORMAL" }));
  return fill({ name: "SQLite", sessions, floor, orcha });
}

async function postgresBed(cluster: Cluster, sessions: number): Promise<ListBed> {
  const [floorUrl, orchaUrl] = [await cluster.database(`list_floor_${sessions}`), await cluster.database(`list_orcha_${sessions}`)];
  await cluster.hurry(orchaUrl, true);
  const seeding = new OrchaList(await postgresStore({ connectionString: orchaUrl }));
  await seeding.seed(sessions);
  await seeding.close();
  await cluster.hurry(orchaUrl, false);
  const floor = await openPostgresListFloor(floorUrl);
  await floor.seed(sessions);
  for (const url of [floorUrl, orchaUrl]) await vacuum(url);
  const orcha = new OrchaList(await postgresStore({ connectionString: orchaUrl }));
  await orcha.findCursor();
  return check({ name: "Postgres", sessions, floor, orcha });
}

async function fill(bed: ListBed): Promise<ListBed> {
  await bed.floor.seed(bed.sessions);
  await bed.orcha.seed(bed.sessions);
  return check(bed);
}

/** Fast is no use where the list is not the same. */
async function check(bed: ListBed): Promise<ListBed> {
  for (const page of ["first", "second"] as const) {
    const [left, right] = [await namesOf(bed.floor, page), await namesOf(bed.orcha, page)];
    if (left !== right) throw new RangeError(`the ${page} lists differ: ${left} and ${right}`);
  }
  return bed;
}

async function namesOf(side: ListSide, page: "first" | "second"): Promise<string> {
  const rows = (await side.list(page)) as { id?: string; sessionId?: string }[];
  return rows.map(({ id, sessionId }) => id ?? sessionId).join(" ");
}
