import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import { shell } from "../cli/orcha.ts";
import { temporaryFolders } from "../stores.ts";
import { terminalOf } from "../terminal.ts";

const program = join(import.meta.dirname, "../../examples/support/src/main.ts");
const folders = temporaryFolders();

// A developer's own keys would answer in the script's place.
const { CI: _ci, ORCHA_MODEL: _model, OPENAI_API_KEY: _openai, ANTHROPIC_API_KEY: _anthropic, GOOGLE_GENERATIVE_AI_API_KEY: _google, ...env } = process.env;
const command = [process.execPath, "--conditions=orcha-source", program];

async function start(...flags: string[]) {
  return run([...command, ...flags], await folders());
}

/** The same, where a person can be asked. */
async function startInTerminal(...flags: string[]) {
  return run(terminalOf([...command, ...flags].map((word) => `'${word}'`).join(" ")), await folders());
}

function run([file = "", ...args]: string[], cwd: string) {
  const child = spawn(file, args, { cwd, env, stdio: ["pipe", "pipe", "pipe"] });
  onTestFinished(() => void child.kill());
  let output = "";
  for (const stream of [child.stdout, child.stderr]) {
    stream.on("data", (chunk: Buffer) => {
      output += chunk.toString();
    });
  }
  const exited = once(child, "exit").then(([code]: unknown[]) => code);
  async function printed(text: RegExp): Promise<string> {
    for (;;) {
      const match = text.exec(output);
      if (match) return match[1] ?? match[0];
      if (child.exitCode !== null) throw new Error(`ended before ${text}:\n${output}`);
      await Promise.race([new Promise((resolve) => child.stdout.once("data", resolve)), exited]);
    }
  }
  return { cwd, child, printed, exited, output: () => output };
}

/** The lines of an output, without times of day. */
function linesOf(output: string): string[] {
  return output.split(/\r?\n/).map((line) => line.replace(/^ +\d\d:\d\d:\d\d +/, "").trim());
}

describe("the support example", () => {
  test("as the demo: runs the agent, answers the approval, shows the history, and ends by itself", async () => {
    const demo = await start("--once");
    expect(await demo.exited).toBe(0);
    const lines = linesOf(demo.output());
    expect(lines.filter((line) => line.includes("offline"))).toHaveLength(1);
    const shown = lines.slice(lines.indexOf("What an app shows of it:") + 2, -2);
    expect(shown).toEqual([
      "Customer   Where is my order A-1042?",
      "Assistant  Let me look.",
      '✓ lookup order completed.  {"orderId":"A-1042"}',
      "Assistant  I am sorry: it was lost by the carrier. Shall I refund the 750 USD?",
      "Customer   Yes, please refund it.",
      "Assistant  A colleague has to approve that amount. One moment.",
      "✓ request human approval completed.",
      '✓ refund order completed.  {"orderId":"A-1042"}',
      "Assistant  Done: 750 USD are on their way back to you.",
      "page 1 of 1, 9 items",
    ]);
    expect(lines.indexOf("Assistant  Done: 750 USD are on their way back to you.")).toBeLessThan(lines.indexOf("What an app shows of it:"));
    expect(existsSync(join(demo.cwd, ".orcha/orcha.db"))).toBe(true);
  });

  test("in a terminal: asks for the approval, and a no is an answer", async () => {
    const server = await startInTerminal("--port", "0");
    await server.printed(/Approve a refund of 750 USD\? \[y\/n\] /);
    server.child.stdin.write("n\r");
    await server.printed(/Ctrl-C ends the server/);
    expect(linesOf(server.output())).toContain("Assistant  My colleague wants to look at this first and will write to you today.");
    server.child.stdin.write("\u0003");
    expect(await server.exited).toBe(0);
    expect(linesOf(server.output())).toContain("Closing.");
  });

  test("in a terminal: Ctrl-D leaves the approval open, and the server serves on", async () => {
    const server = await startInTerminal("--port", "0");
    await server.printed(/Approve a refund of 750 USD\? \[y\/n\] /);
    server.child.stdin.write("\u0004");
    await server.printed(/Ctrl-C ends the server/);
    expect(linesOf(server.output())).toContain("The approval waits.");
    server.child.stdin.write("\u0003");
    expect(await server.exited).toBe(0);
  });

  test("as the server: keeps serving, says how to go on, which works, and Ctrl-C ends it cleanly", async () => {
    const server = await start("--port", "0");
    const url = await server.printed(/serves at (http:\S+),/);
    await server.printed(/Ctrl-C ends the server/);
    expect(server.output()).toContain("The approval waits");

    const listed = await server.printed(/curl '(http:[^']+)'/);
    const response = await fetch(listed);
    expect(await response.json()).toMatchObject({ items: [{ name: "Order A-1042", runStatus: "waiting_for_client_action" }] });
    expect((await fetch(`${url}/healthz`)).status).toBe(200);

    const place = { cwd: server.cwd };
    const [answering, anew] = await Promise.all([server.printed(/this conversation +npm run -s orcha -- (.*)/), server.printed(/a new one +npm run -s orcha -- (.*)/)]);
    const answered = await shell(`echo y | orcha ${answering.trim()}`, place);
    expect(answered.stdout).toContain("Done: 750 USD are on their way back to you.\n");
    const other = await shell(`printf 'Hi\nA-1043?\na-1044?\nyes\nB-1\n' | orcha ${anew.trim()}`, place);
    expect(other.stdout.split("\n").filter((line) => !line.startsWith("  "))).toEqual([
      "Hello! I am the shop's assistant, and only scripted. Ask me about order A-1042, A-1043 or A-1044.",
      "Let me look.",
      "It is on its way, and due on Friday.",
      "Let me look.",
      "I am sorry: it was lost by the carrier. Shall I refund the 40 USD?",
      "Done: 40 USD are on their way back to you.",
      "Let me look.",
      "That did not work. Is the order's number right? It is like A-1042.",
      "",
    ]);
    const curl = await shell(await server.printed(/over HTTP +(curl .*)/), place);
    expect(JSON.parse(curl.stdout)).toMatchObject({ status: "completed", output: "It is on its way, and due on Friday." });

    server.child.kill("SIGINT");
    expect(await server.exited).toBe(0);
    await expect(fetch(url)).rejects.toThrow("fetch failed");
  });

  test.each([{ flags: ["--port", "abc"] }, { flags: ["--port", "65536"] }, { flags: ["--prot"] }])("what can't be started is said in one line: $flags", async ({ flags }) => {
    const refused = await start(...flags);
    expect(await refused.exited).toBe(1);
    expect(refused.output().trim().split("\n")).toEqual([expect.stringMatching(/--p(or|ro)t/)]);
  });

  test("a port that is taken, and a model that isn't there, are said in one line", async () => {
    const first = await start("--port", "0");
    const port = await first.printed(/127\.0\.0\.1:(\d+)/);
    const second = await start("--port", port);
    expect(await second.exited).toBe(1);
    expect(second.output().trim()).toBe(`Port ${port} is taken. Another one: npm start -- --port 4311`);
    first.child.kill("SIGINT");
    await first.exited;
    const third = run(["env", "ORCHA_MODEL=nobody/nothing", ...command, "--once"], first.cwd);
    expect(await third.exited).toBe(1);
    expect(third.output().trim().split("\n")).toHaveLength(1);
  });
});
