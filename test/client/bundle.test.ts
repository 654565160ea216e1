import { fileURLToPath } from "node:url";
import { gzipSync } from "node:zlib";
import { build } from "esbuild";
import { beforeAll, describe, expect, it } from "vitest";

const entry = fileURLToPath(new URL("../../packages/client/dist/index.js", import.meta.url));

describe("the built client in a browser", () => {
  let inputs: Record<string, { imports: { path: string; external?: boolean }[] }>;
  let code: Uint8Array;

  beforeAll(async () => {
    const result = await build({
      entryPoints: [entry],
      bundle: true,
      minify: true,
      format: "esm",
      platform: "browser",
      metafile: true,
      write: false,
      logLevel: "silent",
    });
    inputs = result.metafile.inputs;
    code = result.outputFiles[0]?.contents ?? new Uint8Array();
  });

  it("holds itself, oRPC's client and ky, and nothing of the server's side", () => {
    const files = Object.keys(inputs).map((file) => file.replaceAll("\\", "/"));
    const packages = files.map((file) => /.*\/node_modules\/((?:@[^/]+\/)?[^/]+)\//.exec(file)?.[1] ?? /(packages\/[^/]+)\//.exec(file)?.[1]);
    expect(new Set(packages)).toEqual(new Set([
      "@orpc/client",
      "@orpc/shared",
      "@orpc/standard-server",
      "ky",
      "packages/client",
      "radash",
    ]));
  });

  it("needs nothing from outside", () => {
    const external = Object.values(inputs).flatMap(({ imports }) => imports.filter((imported) => imported.external === true));
    expect(external).toEqual([]);
  });

  it("takes at most 16 kB of the wire", () => {
    const bytes = gzipSync(code, { level: 9 }).byteLength;
    console.info(`@orcha/client: ${code.byteLength} B minified, ${bytes} B gzipped`);
    expect(bytes).toBeGreaterThan(5000);
    expect(bytes).toBeLessThanOrEqual(16 * 1024);
  });
});
