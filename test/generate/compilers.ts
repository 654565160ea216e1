import { execFile } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll } from "vitest";

const root = join(import.meta.dirname, "../..");

/** The TypeScripts that a generated module must compile with. */
export const compilers: [name: string, program: string][] = [
  ["5.9", join(root, "test/node_modules/typescript-5.9/bin/tsc")],
  ["6", join(root, "test/node_modules/typescript-6/bin/tsc")],
  ["7", join(root, "node_modules/typescript/bin/tsc")],
];

export const newest = join(root, "node_modules/typescript/bin/tsc");

/** Makes folders inside the test package, so that imports resolve as an app's would, and removes them at the end. */
export function appFolders(): () => string {
  const parent = join(import.meta.dirname, ".generated");
  const made: string[] = [];
  afterAll(() => {
    for (const folder of made) rmSync(folder, { recursive: true, force: true });
  });
  return () => {
    mkdirSync(parent, { recursive: true });
    const folder = mkdtempSync(join(parent, "app-"));
    made.push(folder);
    return folder;
  };
}

/** Compiles all of a folder under `strict`, and answers what the compiler says: nothing where all is well. */
export function compile(folder: string, program: string, options: object = {}): Promise<string> {
  const compilerOptions = {
    target: "es2023",
    lib: ["es2024", "dom", "dom.iterable", "dom.asynciterable"],
    module: "nodenext",
    moduleResolution: "nodenext",
    types: ["node"],
    strict: true,
    noUncheckedIndexedAccess: true,
    verbatimModuleSyntax: true,
    isolatedModules: true,
    erasableSyntaxOnly: true,
    allowImportingTsExtensions: true,
    noUnusedLocals: true,
    skipLibCheck: true,
    noEmit: true,
    customConditions: ["orcha-source"],
    ...options,
  };
  writeFileSync(join(folder, "tsconfig.json"), JSON.stringify({ compilerOptions, include: ["**/*.ts"] }));
  return new Promise((resolve) => {
    execFile(process.execPath, [program, "-p", folder], { cwd: root, maxBuffer: 1e8 }, (_error, stdout, stderr) => resolve(stdout + stderr));
  });
}
