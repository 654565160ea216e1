import type { Store } from "@orcha/server";
import { sqliteStore } from "@orcha/server/sqlite";
import { orchaOn, type OrchaSide } from "./orcha.ts";
import type { Synchronous } from "./side.ts";

/** Opens Orcha on a file; `wrap` may put something between it and its store. */
export async function openOrcha(
  file: string,
  synchronous: Synchronous,
  wrap: (store: Store) => Store = (store) => store,
): Promise<OrchaSide> {
  return orchaOn(wrap(await sqliteStore({ file, synchronous })));
}
