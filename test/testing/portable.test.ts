import { builtinModules } from "node:module";
import { fileURLToPath } from "node:url";
import { gzipSync } from "node:zlib";
import { build } from "esbuild";
import { expect, test } from "vitest";

/** A built entry, bundled for a page where no provider's package is installed. */
async function bundled(file: string, platform: "browser" | "neutral") {
  const { metafile, outputFiles, warnings } = await build({
    entryPoints: [fileURLToPath(new URL(`../../packages/testing/dist/${file}`, import.meta.url))],
    bundle: true,
    minify: true,
    write: false,
    metafile: true,
    format: "esm",
    platform,
    mainFields: ["module", "main"],
    conditions: ["import", "default"],
    external: [...builtinModules, "node:*"],
    // Optional, and not installed where an app has none of them.
    alias: Object.fromEntries(["openai", "openai-compatible", "anthropic", "google"].map((name) => [`@ai-sdk/${name}`, `not-installed-${name}`])),
    logLevel: "silent",
  });
  const needs = Object.values(metafile.inputs).flatMap(({ imports }) => imports.filter(({ external }) => external === true));
  return { needs, warnings, bytes: gzipSync(outputFiles[0]?.contents ?? new Uint8Array(), { level: 9 }).length };
}

test("the mock uses no Node built-in, and loads a provider only where a model is named", async () => {
  const { needs, warnings, bytes } = await bundled("index.js", "browser");
  expect(warnings).toEqual([]);
  expect(needs.filter(({ path }) => !path.startsWith("@ai-sdk/"))).toEqual([]);
  expect(needs.every(({ kind }) => kind === "dynamic-import")).toBe(true);
  console.info(`@orcha/testing: ${bytes} B gzipped`);
});

test("what intercepts in Node does need them, so the walk can see one", async () => {
  expect((await bundled("node.js", "neutral")).needs.some(({ path }) => builtinModules.includes(path.replace("node:", "")))).toBe(true);
});
