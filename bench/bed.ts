import type { OrchaSide } from "./orcha.ts";
import type { SeedItems, Side } from "./side.ts";

/** A session of both sides, and the number of the turn that comes next. */
export interface SessionOfBed {
  id: string;
  next: number;
}

/** The sides that are compared. */
export interface Sides {
  floor: Side;
  orcha: OrchaSide;
  /** A floor with Orcha's items of the first session in it, to tell what is the store's and what is the JSON's. */
  mirror: Side & { seedItems: SeedItems };
}

/** Sessions of one length, on both sides. */
export interface Bed extends Sides {
  items: number;
  sessions: SessionOfBed[];
  /** How many turns were handed out: the sessions take theirs in rotation. */
  taken: number;
}

/** Many short sessions, so that what is appended leaves them as short as they are. */
function sessionCount(items: number): number {
  return items <= 100 ? 100 : items <= 10_000 ? 2 : 1;
}

/** Fills both sides with sessions of a length. */
export async function makeBed(sides: Sides, items: number): Promise<Bed> {
  const bed: Bed = { ...sides, items, sessions: [], taken: 0 };
  for (let index = 0; index < sessionCount(items); index += 1) {
    const id = `session-${items}-${String(index).padStart(4, "0")}`;
    bed.sessions.push(await addSession(sides, id, items));
  }
  const first = bed.sessions[0]?.id ?? "";
  await bed.mirror.seedItems(first, await bed.orcha.everything(first));
  return bed;
}

/** Adds one session of a length to both sides. */
export async function addSession({ floor, orcha }: Pick<Sides, "floor" | "orcha">, id: string, items: number): Promise<SessionOfBed> {
  const nextOfFloor = await floor.seed(id, items);
  const nextOfOrcha = await orcha.seed(id, items);
  return { id, next: Math.max(nextOfFloor, nextOfOrcha) };
}
