import { builtinModules } from "node:module";
import { join } from "node:path";
import { build } from "esbuild";
import { expect, test } from "vitest";

const dist = join(import.meta.dirname, "../../packages/server/dist");

/** Everything that a built file brings along, and what it would need from its surroundings. */
async function graphOf(file: string) {
  const { metafile } = await build({
    entryPoints: [join(dist, file)],
    bundle: true,
    write: false,
    metafile: true,
    format: "esm",
    platform: "neutral",
    mainFields: ["module", "main"],
    conditions: ["import", "default"],
    external: [...builtinModules, "node:*"],
    logLevel: "silent",
  });
  const inputs = Object.entries(metafile.inputs);
  return {
    files: inputs.map(([name]) => name),
    needs: inputs.flatMap(([, { imports }]) => imports.filter(({ external }) => external === true).map(({ path }) => path)),
  };
}

test("the app, the router and the memory store use no Node built-in", async () => {
  const { files, needs } = await graphOf("index.js");
  expect(files.some((file) => file.endsWith("store/memory.js"))).toBe(true);
  expect(files.some((file) => file.endsWith("router.js"))).toBe(true);
  expect(needs).toEqual([]);
  expect(files.filter((file) => /better-sqlite3|node-server/.test(file))).toEqual([]);
});

test("what listens on Node does need them, so the walk can see one", async () => {
  expect((await graphOf("node.js")).needs).not.toEqual([]);
});
