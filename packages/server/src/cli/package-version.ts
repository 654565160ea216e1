import { readFileSync } from "node:fs";

/** The version of this package, as its manifest says it: the same beside the sources and beside what is built of them. */
export function packageVersion(): string {
  const manifest: unknown = JSON.parse(readFileSync(new URL("../../package.json", import.meta.url), "utf8"));
  if (typeof manifest === "object" && manifest !== null && "version" in manifest && typeof manifest.version === "string") return manifest.version;
  throw new TypeError("the package's manifest names no version");
}
