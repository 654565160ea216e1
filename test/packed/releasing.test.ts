import { cpSync, globSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { temporaryFolders } from "../stores.ts";
import { root, run } from "./pnpm.ts";

const folders = temporaryFolders();
const published = ["agent", "client", "contract", "formats", "server", "testing"];

test("a changeset of one package gives all of them the next version, and tells their changelogs", { timeout: 60_000 }, async () => {
  const folder = await folders();
  const files = ["package.json", "pnpm-workspace.yaml", "pnpm-lock.yaml", ".changeset/config.json"];
  const manifests = globSync(["packages/*/{package.json,CHANGELOG.md}", "{examples/*,test,bench}/package.json"], { cwd: root });
  for (const file of [...files, ...manifests]) cpSync(join(root, file), join(folder, file));
  const git = (...parameters: string[]): string => run("git", ["-c", "user.name=test", "-c", "user.email=test@orcha.test", ...parameters], folder);
  git("init", "--quiet", "--initial-branch=main");
  git("add", "--all");
  git("commit", "--quiet", "--message", "as it is");
  writeFileSync(join(folder, ".changeset/some-change.md"), '---\n"@orcha/formats": minor\n---\n\nReads one more format.\n');

  const manifestOf = (path: string): Manifest => JSON.parse(readFileSync(join(folder, path, "package.json"), "utf8")) as Manifest;
  const before = manifestOf("packages/formats").version ?? "";
  run(process.execPath, [join(root, "node_modules/@changesets/cli/bin.js"), "version"], folder);

  const next = manifestOf("packages/formats").version;
  expect(next).toBe(before.replace(/\.(\d+)\.\d+$/, (_, minor: string) => `.${Number(minor) + 1}.0`));
  expect(published.map((name) => manifestOf(`packages/${name}`).version)).toEqual(published.map(() => next));
  for (const name of published) expect(readFileSync(join(folder, `packages/${name}/CHANGELOG.md`), "utf8")).toContain(`## ${next}\n`);
  expect(readFileSync(join(folder, "packages/formats/CHANGELOG.md"), "utf8")).toContain("Reads one more format.");
  expect(manifestOf("packages/server").dependencies?.["@orcha/formats"]).toBe("workspace:*");
  expect(["test", "bench", "examples/support"].map((path) => manifestOf(path).version)).toEqual([undefined, undefined, undefined]);
});

interface Manifest {
  version?: string;
  dependencies?: Record<string, string>;
}
