import { spawnSync } from "node:child_process";
import { cpSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { temporaryFolders } from "../stores.ts";

const root = join(import.meta.dirname, "../..");
const packages = ["contract", "formats", "client", "server"];
const folders = temporaryFolders();

function run(command: string, parameters: string[], cwd: string): string {
  const { status, stdout, stderr } = spawnSync(command, parameters, { cwd, encoding: "utf8" });
  expect(status, `${command} ${parameters.join(" ")}\n${stdout}${stderr}`).toBe(0);
  return stdout;
}

function pnpm(parameters: string[], cwd: string): string {
  return run("npx", ["-y", "--prefer-offline", "pnpm@12.21.0", ...parameters], cwd);
}

test("the packed packages work in an empty project under TypeScript 5.9", { timeout: 120_000 }, async () => {
  const project = await folders();
  const tarballs = packages.map((name) => {
    pnpm(["pack", "--pack-destination", project], join(root, "packages", name));
    return [`@orcha/${name}`, `file:./${readdirSync(project).find((file) => file.includes(`-${name}-`))}`] as const;
  });
  for (const [, tarball] of tarballs) expect(filesOf(join(project, tarball.slice(5))).filter(isStray)).toEqual([]);

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
  run(process.execPath, [join(root, "test/node_modules/typescript-5.9/bin/tsc"), "-p", "."], project);
  expect(run(process.execPath, ["out/program.js"], project)).toBe("user Where is my order?\nrequest_human_approval waiting 750 USD\n");
});

function filesOf(tarball: string): string[] {
  return run("tar", ["-tzf", tarball], root).trim().split("\n");
}

/** Only what is built, and what npm wants to know. */
function isStray(file: string): boolean {
  return !/^package\/(dist\/.+\.(js|d\.ts)(\.map)?|package\.json|README\.md|LICENSE)$/.test(file);
}
