import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { startModelServer } from "./model-server.ts";

// The samples of the document that Agent follows, as they are written there. tsc compiles them with the other tests.
const samples = join(import.meta.dirname, "seed");
const folder = mkdtempSync(join(tmpdir(), "orcha-seed-"));
let server: Awaited<ReturnType<typeof startModelServer>>;
beforeAll(async () => {
  server = await startModelServer();
});
beforeEach(() => server.clear());
afterAll(async () => {
  rmSync(folder, { recursive: true });
  await server.stop();
});

/** Runs a sample in a process of its own and answers what it prints. */
async function run(sample: string): Promise<string> {
  const env = { PATH: process.env["PATH"], OPENAI_API_KEY: "sk-test", OPENAI_BASE_URL: `${server.url}/v1` };
  const child = spawn(process.execPath, ["--conditions=orcha-source", join(samples, sample)], { cwd: folder, env });
  let output = "";
  for (const stream of [child.stdout, child.stderr]) stream.on("data", (chunk: Buffer) => (output += chunk.toString()));
  await once(child, "close");
  return output.trim();
}

/** The texts of the last request that the model server saw. */
function lastRequest(): string {
  return JSON.stringify(server.asked().at(-1)?.body["messages"]);
}

test("a chat is saved and reopened", async () => {
  expect(await run("quick-start.ts")).toBe("Your name is Alice");
  expect(server.asked()).toHaveLength(2);
  expect(lastRequest()).toContain("My name is Alice");
});

test("a history is an array of AgentMessage", async () => {
  expect(JSON.parse(await run("agent-message.ts"))).toEqual([
    { role: "user", content: "Hello" },
    { role: "assistant", content: "Hello!" },
  ]);
});

test("a chat is saved to disk and reopened by another process", async () => {
  expect(await run("save.ts")).toBe("");
  expect(await run("reopen.ts")).toBe("Your name is Alice");
});

test("a tool's result carries over, and the tool is not run again", async () => {
  expect(await run("tools.ts")).toBe("Yes, 22°C is warm.");
  expect(server.asked()).toHaveLength(3);
  expect(lastRequest()).toContain("Weather in Paris: 22°C, Sunny");
});
