import { copyFileSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { beforeAll, expect, onTestFinished, test } from "vitest";
import { agents as clientAgents } from "../client/agents.ts";
import { orcha, start } from "../cli/orcha.ts";
import { agents as carriedAgents } from "./carried.ts";
import { appFolders, compile, compilers, newest } from "./compilers.ts";
import { generate } from "./generated.ts";

const newFolder = appFolders();
const tests = join(import.meta.dirname, "..");
const demo = join(tests, "../examples/support/src");
let folder = "";

const same = `import type { AgentTypesFrom } from "@orcha/client";
import { expectTypeOf } from "vitest";
import type { agents } from "./agents.ts";
import type { Agents } from "./orcha.gen.ts";

type Shared = { -readonly [K in keyof typeof agents]: AgentTypesFrom<(typeof agents)[K]> };
expectTypeOf<Agents>().toEqualTypeOf<Shared>();
expectTypeOf<Shared>().toEqualTypeOf<Agents>();
`;

beforeAll(async () => {
  folder = newFolder();
  for (const name of ["client", "carried", "demo"]) {
    mkdirSync(join(folder, name));
    writeFileSync(join(folder, name, "same.ts"), same);
  }
  await generate(clientAgents, join(folder, "client"));
  copyFileSync(join(tests, "client/agents.ts"), join(folder, "client/agents.ts"));
  // The type tests of the shared definitions, as they are, on a connection that the generated module makes.
  copyFileSync(join(tests, "client/types.test-d.ts"), join(folder, "client/types.test-d.ts"));
  writeFileSync(join(folder, "client/connection.ts"), 'export { orcha, type SupportAgent } from "./orcha.gen.ts";\n');

  await generate(carriedAgents, join(folder, "carried"));
  copyFileSync(join(import.meta.dirname, "carried.ts"), join(folder, "carried/agents.ts"));

  await generateFromDemo(join(folder, "demo"));
  copyFileSync(join(demo, "agents.ts"), join(folder, "demo/agents.ts"));
}, 60_000);

async function generateFromDemo(cwd: string): Promise<void> {
  const server = start([process.execPath, "--conditions=orcha-source", join(demo, "main.ts"), "--port", "0"], { cwd });
  try {
    await server.printed(/Ctrl-C ends the server/);
    const url = /serves at (http:[^\s,]+),/.exec(await server.printed(/serves at/))?.[1] ?? "";
    const { code, stdout, stderr } = await orcha(["generate", "--url", url, "--out", "orcha.gen.ts"], { cwd });
    expect([code, stdout, stderr]).toEqual([0, "Wrote orcha.gen.ts: 1 agent.\n", ""]);
    expect(readFileSync(join(cwd, "orcha.gen.ts"), "utf8")).toContain(`const baseUrl = "${url}";`);
  } finally {
    server.child.kill("SIGINT");
    await server.ended;
  }
}

test.each(compilers)("TypeScript %s: the types of the definitions, and their type tests pass", { timeout: 60_000 }, async (_name, program) => {
  expect(await compile(folder, program)).toBe("");
});

test("a type that differs doesn't pass", { timeout: 60_000 }, async () => {
  const file = join(folder, "client/orcha.gen.ts");
  const text = readFileSync(file, "utf8");
  onTestFinished(() => writeFileSync(file, text));
  writeFileSync(file, text.replace("{ orderId: string; amount: number }", "{ orderId: string; amount?: number }"));
  const said = await compile(folder, newest);
  expect(said).toMatch(/client\/same\.ts\(\d/);
  expect(said).toMatch(/client\/types\.test-d\.ts\(\d/);
});
