import { spawn, spawnSync, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdirSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { afterAll, beforeAll, describe, expect, onTestFinished, test, vi } from "vitest";
import { linksOf, pages, samplesOf, type Sample } from "./samples.ts";
import { freePort } from "../free-port.ts";

const root = join(import.meta.dirname, "../..");
// Inside the test package, so that imports of samples resolve as a reader's would.
const folder = join(import.meta.dirname, ".samples");
const samples = pages().flatMap(samplesOf);
const snippets = samples.filter(({ file }) => file === undefined);

beforeAll(() => {
  rmSync(folder, { recursive: true, force: true });
  for (const sample of samples) {
    const path = pathOf(sample);
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, sample.file === undefined ? snippetModule(sample) : sample.code);
  }
  writeFileSync(
    join(folder, "tsconfig.json"),
    JSON.stringify({
      extends: "../../../tsconfig.base.json",
      compilerOptions: { noEmit: true, composite: false, declaration: false, declarationMap: false, types: ["node"], lib: ["es2024", "dom"] },
      include: ["**/*.ts"],
    }),
  );
});

afterAll(() => rmSync(folder, { recursive: true, force: true }));

function pathOf(sample: Sample): string {
  const page = sample.page.replace(/\.md$/, "").replaceAll("/", "-");
  return join(folder, page, sample.file ?? `line-${sample.line}.ts`);
}

/** A snippet, with what its page takes for granted. */
function snippetModule({ code }: Sample): string {
  const given = /const \{[^}]*\bsessionId\b[^}]*\} =/.test(code) ? "orcha" : "orcha, sessionId";
  return [
    `import { ${given} } from "../../given.ts";`,
    'import type { AgentMessage, Unlisted } from "@orcha/client";',
    code,
    "export {};",
  ].join("\n");
}

test("every sample compiles", () => {
  const tsc = spawnSync(join(root, "node_modules/.bin/tsc"), ["-p", folder], { encoding: "utf8" });
  expect(tsc.stdout + tsc.stderr).toBe("");
});

test("every link leads to a file", () => {
  for (const page of pages()) {
    for (const link of linksOf(page)) expect(existsSync(join(root, dirname(page), link)), `${page}: ${link}`).toBe(true);
  }
});

describe("every snippet runs and prints what its comments say", () => {
  test.each(snippets.map((sample) => [`${sample.page}:${sample.line}`, sample] as const))("%s", async (_name, sample) => {
    const print = vi.spyOn(console, "log").mockImplementation(() => {});
    await import(pathOf(sample));
    const lines = print.mock.calls.map((values) => values.map(String).join(" "));
    for (const expected of sample.prints) expect(lines).toContain(expected);
  });
});

test("a page's test file passes, as a reader's would", () => {
  const vitest = join(root, "node_modules/vitest/vitest.mjs");
  const { stdout, stderr, status } = spawnSync(process.execPath, [vitest, "run", "--config", join(import.meta.dirname, "samples.config.ts")], { encoding: "utf8" });
  expect(stdout + stderr).toContain("2 passed");
  expect(status).toBe(0);
});

test("the README's program runs", async () => {
  const port = await freePort();
  for (const sample of samples) {
    if (sample.page === "README.md") writeFileSync(pathOf(sample), sample.code.replaceAll("4310", String(port)));
  }
  const server = run(join(folder, "README/server.ts"));
  onTestFinished(() => void server.child.kill());
  await server.printed(/Listening on/);
  const app = run(join(folder, "README/app.ts"));
  const [code] = (await once(app.child, "exit")) as [number | null];
  expect(app.output()).toContain("Where is my order?");
  expect(app.output()).toContain("request_human_approval call_123 waiting");
  expect(code).toBe(0);
});

function run(file: string): { child: ChildProcess; output: () => string; printed: (text: RegExp) => Promise<void> } {
  const child = spawn(process.execPath, ["--conditions=orcha-source", file], { cwd: dirname(file) });
  let output = "";
  const append = (chunk: Buffer): void => {
    output += chunk.toString();
  };
  child.stdout.on("data", append);
  child.stderr.on("data", append);
  return {
    child,
    output: () => output,
    printed: async (text) => {
      while (!text.test(output)) {
        if (child.exitCode !== null) throw new Error(output);
        await Promise.race([once(child.stdout, "data"), once(child, "exit")]);
      }
    },
  };
}
