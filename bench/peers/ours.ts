import { join } from "node:path";
import { openFloor } from "../floor/sqlite.ts";
import { openOrcha } from "../orcha-file.ts";
import type { Side } from "../side.ts";
import type { PeerSide } from "./peer-side.ts";

/** The floor and Orcha, as the other parts measure them; with `synchronous` NORMAL. The others are as they set themselves up. */
export async function openOurs(name: "floor" | "orcha", directory: string): Promise<PeerSide> {
  const file = join(directory, `${name}.db`);
  const side: Side = name === "floor" ? openFloor(file, "NORMAL") : await openOrcha(file, "NORMAL");
  return {
    seed: (session, items) => side.seed(session, items),
    newest: (session) => side.page(session, "newest"),
    oldest: (session) => side.page(session, "oldest"),
    append: (session, turn) => side.append(session, turn),
  };
}
