import { cpSync, existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { checkPackage, createPackageFromTarballData } from "@arethetypeswrong/core";
import { publint } from "publint";
import { formatMessage } from "publint/utils";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { temporaryFolders } from "../stores.ts";
import { pnpm, root, run } from "./pnpm.ts";

const packages = ["contract", "formats", "agent", "client", "server"];
const folders = temporaryFolders();
const packed = mkdtempSync(join(tmpdir(), "orcha-packed-"));
afterAll(() => rmSync(packed, { recursive: true, force: true }));
beforeAll(() => {
  pnpm(["--recursive", "--filter", "./packages/*", "pack", "--pack-destination", packed], root);
  for (const name of packages) {
    mkdirSync(join(packed, name));
    run("tar", ["-xzf", tarballOf(name), "-C", join(packed, name)], root);
  }
}, 60_000);

describe.each(packages)("@orcha/%s as it is published", (name) => {
  test("is what is built and its source, a README and the license, and nothing else", () => {
    const files = filesOf(tarballOf(name));
    expect(files.filter(isStray)).toEqual([]);
    expect(files).toEqual(expect.arrayContaining(["package/README.md", "package/LICENSE", "package/dist/index.js", "package/dist/index.d.ts"]));
  });

  test("its maps lead to files that it brings", () => {
    const lost = filesOf(tarballOf(name)).filter((file) => file.endsWith(".map") && !sourcesOf(join(packed, name, file)).every(existsSync));
    expect(lost).toEqual([]);
  });

  test("its manifest names no other version of a sibling, no workspace, and no way to its source", () => {
    const manifest = JSON.parse(readFileSync(join(packed, name, "package/package.json"), "utf8")) as Manifest;
    const siblings = Object.entries(manifest.dependencies).filter(([dependency]) => dependency.startsWith("@orcha/"));
    expect(siblings.map(([, version]) => version)).toEqual(siblings.map(() => manifest.version));
    expect(JSON.stringify(manifest)).not.toContain("workspace:");
    expect(JSON.stringify(manifest.exports)).not.toContain("./src/");
    expect(manifest).toMatchObject({ license: "MIT", type: "module", sideEffects: false, engines: { node: ">=22.18" } });
  });

  test("publint finds nothing", async () => {
    const tarball = new Uint8Array(readFileSync(tarballOf(name))).buffer;
    const { messages, pkg } = await publint({ pack: { tarball }, strict: true });
    expect(messages.map((message) => formatMessage(message, pkg, { color: false }))).toEqual([]);
  });

  test("types resolve at every sub-path, for programs that import", async () => {
    const result = await checkPackage(createPackageFromTarballData(readFileSync(tarballOf(name))));
    if (!result.types) throw new Error("there are no types");
    const { exports } = JSON.parse(readFileSync(join(root, "packages", name, "package.json"), "utf8")) as Manifest;
    expect(Object.keys(result.entrypoints)).toEqual(Object.keys(exports));
    // What the command leaves out with `--profile esm-only`: whoever requires, and TypeScript's `node10`.
    const problems = result.problems.filter((problem) => !("resolutionKind" in problem) || !["node10", "node16-cjs"].includes(problem.resolutionKind));
    expect(problems).toEqual([]);
  });
});

interface Manifest {
  version: string;
  dependencies: Record<string, string>;
  exports: Record<string, unknown>;
}

test("the packed packages work in an empty project under TypeScript 5.9", { timeout: 120_000 }, async () => {
  const project = await folders();
  const tarballs = packages.map((name) => [`@orcha/${name}`, `file:${tarballOf(name)}`] as const);

  const external = JSON.parse(readFileSync(join(root, "test/package.json"), "utf8")) as { dependencies: Record<string, string> };
  const { valibot, "better-sqlite3": sqlite } = external.dependencies;
  writeFileSync(
    join(project, "package.json"),
    JSON.stringify({
      private: true,
      type: "module",
      dependencies: { ...Object.fromEntries(tarballs), valibot, "better-sqlite3": sqlite },
    }),
  );
  const overrides = tarballs.map(([name, tarball]) => `  "${name}": "${tarball}"`).join("\n");
  writeFileSync(join(project, "pnpm-workspace.yaml"), `overrides:\n${overrides}\nallowBuilds:\n  better-sqlite3: false\n`);
  pnpm(["install", "--prefer-offline", "--no-frozen-lockfile"], project);

  mkdirSync(join(project, "src"));
  cpSync(join(import.meta.dirname, "fixture"), join(project, "src"), { recursive: true });
  writeFileSync(
    join(project, "tsconfig.json"),
    JSON.stringify({
      compilerOptions: {
        strict: true,
        target: "es2022",
        lib: ["es2022", "dom"],
        module: "nodenext",
        types: [],
        skipLibCheck: true,
        rootDir: "src",
        outDir: "out",
        rewriteRelativeImportExtensions: true,
      },
      include: ["src"],
    }),
  );
  const { bin } = JSON.parse(readFileSync(join(project, "node_modules/@orcha/server/package.json"), "utf8")) as { bin: { orcha: string } };
  const command = join(project, "node_modules/@orcha/server", bin.orcha);
  run(process.execPath, [command, "generate", "--config", "src/orcha.config.ts", "--out", "src/orcha.gen.ts"], project);
  run(process.execPath, [join(root, "test/node_modules/typescript-5.9/bin/tsc"), "-p", "."], project);
  expect(run(process.execPath, ["out/program.js"], project).trimEnd().split("\n")).toEqual([
    "user Where is my order?",
    "request_human_approval waiting 750 USD",
    "Three 3",
    'the model "openai/gpt-5-mini" needs the package @ai-sdk/openai: npm install @ai-sdk/openai',
  ]);
});

function tarballOf(name: string): string {
  const found = readdirSync(packed).find((file) => file.startsWith(`orcha-${name}-`));
  return join(packed, found ?? `no tarball of ${name}`);
}

function filesOf(tarball: string): string[] {
  return run("tar", ["-tzf", tarball], root).trim().split("\n");
}

/** Only what is built, what it was built from, and what npm wants to know. */
function isStray(file: string): boolean {
  return !/^package\/(dist\/.+\.(js|d\.ts)(\.map)?|src\/.+\.ts|package\.json|README\.md|LICENSE)$/.test(file);
}

function sourcesOf(map: string): string[] {
  const { sources } = JSON.parse(readFileSync(map, "utf8")) as { sources: string[] };
  return sources.map((source) => join(dirname(map), source));
}
