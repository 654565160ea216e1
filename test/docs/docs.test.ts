import { spawn, spawnSync, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { afterAll, beforeAll, describe, expect, onTestFinished, test, vi } from "vitest";
import { linksOf, pages, samplesOf, type Sample } from "./samples.ts";
import { orcha } from "../cli/orcha.ts";
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
  // Where the README has shown what agents are, other pages take it for granted.
  writeFileSync(join(folder, "docs-react/agents.ts"), 'export * from "../../../agents.ts";\n');
  writeFileSync(
    join(folder, "tsconfig.json"),
    JSON.stringify({
      extends: "../../../tsconfig.base.json",
      compilerOptions: { noEmit: true, composite: false, declaration: false, declarationMap: false, jsx: "react-jsx", types: ["node"], lib: ["es2024", "dom"] },
      include: ["**/*.ts", "**/*.tsx"],
    }),
  );
});

beforeAll(async () => {
  // What the page about it has its readers generate.
  await orcha(["generate", "--out", "orcha.gen.ts"], { cwd: join(folder, "docs-generated-client") });
});

afterAll(() => rmSync(folder, { recursive: true, force: true }));

function pathOf(sample: Sample): string {
  const page = sample.page.replace(/\.md$/, "").replaceAll("/", "-");
  return join(folder, page, sample.file ?? `line-${sample.line}.ts`);
}

/** The pages whose server runs agents. */
const running = ["docs/running-agents.md", "docs/client-actions.md", "docs/testing-agents.md"];

/** A snippet, with what its page takes for granted. */
function snippetModule({ code, page }: Sample): string {
  const given = /const \{[^}]*\bsessionId\b[^}]*\} =/.test(code) ? "orcha" : "orcha, sessionId";
  return [
    `import { ${given} } from "../../${running.includes(page) ? "given-running" : "given"}.ts";`,
    'import type { AgentMessage, Unlisted } from "@orcha/client";',
    code,
    "export {};",
  ].join("\n");
}

test("every sample compiles", () => {
  const tsc = spawnSync(join(root, "node_modules/.bin/tsc"), ["-p", folder], { encoding: "utf8" });
  expect(tsc.stdout + tsc.stderr).toBe("");
});

test("the page about a generated client shows what is generated", () => {
  const shown = samples.find(({ page, code }) => page === "docs/generated-client.md" && code.includes("export interface"));
  expect(readFileSync(join(folder, "docs-generated-client/orcha.gen.ts"), "utf8")).toContain(shown?.code ?? "no sample");
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

/** Gives the README's files a port of their own, and a model that needs no key. */
async function prepareReadme(): Promise<void> {
  const port = await freePort();
  const scripted = `(await import("@orcha/agent/testing")).scriptedModel([
    { text: "Let me look.", toolCalls: [{ name: "lookup_order", arguments: { orderId: "A-1042" } }] },
    { toolCalls: [{ name: "request_human_approval", arguments: { amount: 750, currency: "USD" } }] },
    { text: "Refunded." },
  ])`;
  for (const sample of samples) {
    if (sample.page !== "README.md") continue;
    writeFileSync(pathOf(sample), sample.code.replaceAll("4310", String(port)).replace('"openai/gpt-5-mini"', scripted));
  }
}

test("the README's agent runs", async () => {
  await prepareReadme();
  const server = run(join(folder, "README/agent-server.ts"));
  onTestFinished(() => void server.child.kill());
  await server.printed(/Listening on/);
  const app = run(join(folder, "README/chat.ts"));
  const [code] = (await once(app.child, "exit")) as [number | null];
  expect(app.output()).toMatch(/Approve 750 USD\?\n[^]*Refunded\.\n/);
  expect(code).toBe(0);
});

test("the README's program runs", async () => {
  await prepareReadme();
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
