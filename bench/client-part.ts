import { fileURLToPath } from "node:url";
import { gzipSync } from "node:zlib";
import { build } from "esbuild";
import { clientsOfOthers } from "./clients-of-others.ts";
import type { Part } from "./part.ts";
import { exceed, type Result } from "./result.ts";

/** The most kilobytes that the client may take of the wire, runs and tails included; 12 would be fine. */
const target = 16;

const entry = fileURLToPath(import.meta.resolve("@orcha/client"));

/** Others' packages in the client, by who makes them. */
const others = new Map([
  ["ky", ["ky"]],
  ["oRPC", ["@orpc/*", "radash"]],
]);

/** The built client as a browser gets it, minified and gzipped, and what each part of it adds. */
export async function clientPart(): Promise<Omit<Part, "seconds">> {
  const whole = await bundle([]);
  const results: Result[] = [exceed({ measure: "client", size: whole.minified, against: "none", unit: "kB", target }, [0], [whole.gzipped])];
  for (const [name, packages] of others) {
    const rest = await bundle(packages);
    const size = whole.minified - rest.minified;
    results.push(exceed({ measure: `… ${name}`, size, against: "without it", unit: "kB" }, [rest.gzipped], [whole.gzipped]));
  }
  const ours = await bundle([...others.values()].flat());
  results.push(exceed({ measure: "… Orcha's own", size: ours.minified, against: "none", unit: "kB" }, [0], [ours.gzipped]));
  const title = "Client: minified by esbuild, gzip -9, in kB of 1,024 bytes";
  return { name: "client", title, sizes: "bytes minified", values: "more", notes: clientsOfOthers(), results };
}

/** Bytes minified, and kilobytes of that gzipped, where some packages are left out. */
async function bundle(external: string[]): Promise<{ minified: number; gzipped: number }> {
  const { outputFiles } = await build({
    entryPoints: [entry],
    bundle: true,
    minify: true,
    format: "esm",
    platform: "browser",
    external,
    write: false,
    logLevel: "silent",
  });
  const code = outputFiles[0]?.contents ?? new Uint8Array();
  return { minified: code.byteLength, gzipped: gzipSync(code, { level: 9 }).byteLength / 1024 };
}
