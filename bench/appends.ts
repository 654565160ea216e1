import type { Bed } from "./bed.ts";
import type { Effort } from "./effort.ts";
import { compare, type Result, type Rounds } from "./result.ts";
import { p50 } from "./sampling.ts";
import { nextTurn, turnOf, type Turn } from "./workload.ts";

/** The most that an append may take, as a multiple of the floor's. */
const floorTarget = 1.5;

interface Kind {
  name: string;
  withTool: boolean;
  /** Sent with an idempotency key, which the floor knows nothing of: shown, not judged. */
  withKey: boolean;
}

const kinds: readonly Kind[] = [
  { name: "plain turn", withTool: false, withKey: false },
  { name: "turn with tool", withTool: true, withKey: false },
  { name: "plain turn, with key", withTool: false, withKey: true },
];

interface Series {
  bed: Bed;
  kind: Kind;
  floor: Rounds;
  orcha: Rounds;
}

/** Measures appends of one turn to sessions of every length; `name` tells the kind of append. */
export async function measureAppends(beds: readonly Bed[], effort: Effort, name: string): Promise<Result[]> {
  const all: Series[] = kinds.flatMap((kind) => beds.map((bed) => ({ bed, kind, floor: [], orcha: [] })));
  for (let round = 0; round <= effort.rounds; round += 1) {
    for (const { bed, kind, floor, orcha } of all) {
      const turns = Array.from({ length: effort.appendSamples }, () => takeTurn(bed, kind.withTool));
      const floorMs = await p50(turns.length, (index) => write(turns, index, (id, turn) => bed.floor.append(id, turn)));
      const orchaMs = await p50(turns.length, (index) =>
        write(turns, index, (id, turn) => (kind.withKey ? bed.orcha.appendOnce(id, turn) : bed.orcha.append(id, turn))),
      );
      // The first round warms up.
      if (round === 0) continue;
      floor.push(floorMs);
      orcha.push(orchaMs);
    }
  }
  return all.map(({ bed, kind, floor, orcha }) => {
    const line = { measure: `${name}, ${kind.name}`, size: bed.items, against: "floor" };
    return compare(kind.withKey ? line : { ...line, target: floorTarget }, floor, orcha);
  });
}

/** A turn and the session that it goes to. */
export interface Assigned {
  id: string;
  turn: Turn;
}

/** The next turn of the kind, for the sessions of a bed in turn; made before the clock runs. */
export function takeTurn(bed: Bed, withTool: boolean): Assigned {
  const session = bed.sessions[bed.taken % bed.sessions.length];
  bed.taken += 1;
  if (!session) throw new RangeError("a bed without sessions");
  const number = nextTurn(session.next, withTool);
  session.next = number + 1;
  return { id: session.id, turn: turnOf(session.id, number) };
}

async function write(turns: readonly Assigned[], index: number, append: (id: string, turn: Turn) => Promise<void>): Promise<void> {
  const assigned = turns[index];
  if (assigned) await append(assigned.id, assigned.turn);
}
