import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { temporaryFolders } from "../stores.ts";

const program = join(import.meta.dirname, "../../examples/support/src/main.ts");
const folders = temporaryFolders();

async function start(...flags: string[]) {
  const cwd = await folders();
  const child = spawn(process.execPath, ["--conditions=orcha-source", program, ...flags], { cwd, stdio: ["ignore", "pipe", "pipe"] });
  let output = "";
  for (const stream of [child.stdout, child.stderr]) {
    stream.on("data", (chunk: Buffer) => {
      output += chunk.toString();
    });
  }
  async function printed(text: RegExp): Promise<string> {
    for (;;) {
      const match = text.exec(output);
      if (match) return match[1] ?? match[0];
      if (child.exitCode !== null) throw new Error(`ended before ${text}:\n${output}`);
      await Promise.race([once(child.stdout, "data"), once(child, "exit")]);
    }
  }
  const exited = once(child, "exit").then(([code]: unknown[]) => code);
  return { cwd, child, printed, exited, output: () => output };
}

describe("the support example", () => {
  test("as the demo: shows the conversation, answers the approval, and ends by itself", async () => {
    const demo = await start("--once");
    expect(await demo.exited).toBe(0);
    const lines = demo.output().split("\n").map((line) => line.replace(/^ +\d\d:\d\d:\d\d +/, "").trim());
    expect(lines).toContain("Customer   Where is my order?");
    expect(lines).toContain('✓ lookup order completed.  {"orderId":"A-1042"}');
    expect(lines).toContain('⏳ request human approval is waiting for the client.  {"amount":750,"currency":"USD"}');
    expect(lines).toContain("✓ request human approval completed.");
    expect(lines).toContain("Assistant  Done: 750 USD are on their way back to you.");
    expect(existsSync(join(demo.cwd, ".orcha/orcha.db"))).toBe(true);
  });

  test("as the server: keeps serving, says how to look further, and Ctrl-C ends it cleanly", async () => {
    const server = await start("--port", "0");
    const url = await server.printed(/serves at (http:\S+),/);
    await server.printed(/Ctrl-C ends the server/);
    expect(server.output()).toContain("The approval waits");

    const listed = await server.printed(/curl '(http:[^']+)'/);
    const response = await fetch(listed);
    expect(await response.json()).toMatchObject({ json: { items: [{ name: "Order A-1042", runStatus: "waiting_for_client_action" }] } });
    expect((await fetch(`${url}/healthz`)).status).toBe(200);

    server.child.kill("SIGINT");
    expect(await server.exited).toBe(0);
    await expect(fetch(url)).rejects.toThrow("fetch failed");
  });

  test("a port that is taken is said in one line", async () => {
    const first = await start("--port", "0");
    const port = await first.printed(/127\.0\.0\.1:(\d+)/);
    const second = await start("--port", port);
    expect(await second.exited).toBe(1);
    expect(second.output().trim()).toBe(`Port ${port} is taken. Another one: npm start -- --port 4311`);
    first.child.kill("SIGINT");
    await first.exited;
  });
});
