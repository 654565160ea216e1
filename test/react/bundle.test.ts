import { fileURLToPath } from "node:url";
import { gzipSync } from "node:zlib";
import { build } from "esbuild";
import { expect, test } from "vitest";

const built = (name: string): string => fileURLToPath(new URL(`../../packages/client/dist/${name}.js`, import.meta.url));
const peers = ["react", "@tanstack/react-query"];

/** Bundles what an app takes of the client, and weighs it without its peers. */
async function bundled(contents: string) {
  const result = await build({
    stdin: { contents, resolveDir: import.meta.dirname },
    bundle: true,
    minify: true,
    format: "esm",
    platform: "browser",
    external: peers,
    metafile: true,
    write: false,
    logLevel: "silent",
  });
  const imports = Object.values(result.metafile.outputs).flatMap((output) => output.imports);
  return {
    bytes: gzipSync(result.outputFiles[0]?.contents ?? "", { level: 9 }).byteLength,
    inputs: Object.values(result.metafile.outputs).flatMap((output) =>
      Object.entries(output.inputs).flatMap(([path, { bytesInOutput }]) => (bytesInOutput > 0 ? [path] : [])),
    ),
    external: new Set(imports.filter(({ external }) => external === true).map(({ path }) => path)),
  };
}

const client = `export { createOrcha } from ${JSON.stringify(built("index"))};`;
const hooks = `export * from ${JSON.stringify(built("react"))};`;

test("the hooks add at most 4 kB to the client, and need React and TanStack Query alone", async () => {
  const [alone, both] = [await bundled(client), await bundled(client + hooks)];
  const bytes = both.bytes - alone.bytes;
  console.info(`@orcha/client/react: ${bytes} B gzipped beside the client`);
  expect(bytes).toBeGreaterThan(1000);
  expect(bytes).toBeLessThanOrEqual(4 * 1024);
  expect(both.external).toEqual(new Set(peers));
});

test("what a server prefetches with brings no hook along", async () => {
  const { inputs } = await bundled(`export { historyQuery, sessionsQuery } from ${JSON.stringify(built("react"))};`);
  const names = inputs.flatMap((path) => /client\/dist\/react\/([\w-]+)\.js$/.exec(path)?.[1] ?? []);
  expect(names.sort()).toEqual(["history-query", "history-view", "keys", "opening", "sessions-query"]);
});
