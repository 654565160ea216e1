import { join } from "node:path";
import { describe, inject } from "vitest";
import { temporaryFolders, temporarySchemas } from "../stores.ts";
import type { Place } from "./process.ts";

/** Runs the same tests on every database that server processes can share. */
export function describePlaces(name: string, tests: (makePlace: () => Promise<Place>) => void): void {
  describe(`${name} on sqlite`, () => {
    const folders = temporaryFolders();
    tests(async () => ({ sqlite: { file: join(await folders(), "orcha.db") } }));
  });
  describe(`${name} on postgres`, () => {
    const schemas = temporarySchemas();
    tests(async () => ({ postgres: { connectionString: inject("postgresUrl"), schema: schemas() } }));
  });
}
