import { join } from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import { temporaryFolders } from "../stores.ts";
import { inTerminal, orcha, program, start, typed, type Place, type Running } from "./orcha.ts";

const folders = temporaryFolders();
const configFile = join(import.meta.dirname, "runs.config.ts");
const config = ["--config", configFile];
const support = ["chat", "supportAgent", ...config];

/** Says lines through a pipe. */
async function said(lines: readonly string[], args: readonly string[] = support, cwd?: string) {
  const place: Place = { cwd: cwd ?? (await folders()), input: lines.map((line) => `${line}\n`).join("") };
  return { ...(await orcha(args, place)), cwd: place.cwd };
}

function sessionOf(stderr: string): string {
  return /--session (ses_\w+)/.exec(stderr)?.[1] ?? "no session";
}

describe("orcha chat through a pipe", () => {
  test("answers line by line, plainly, and says how to come back", async () => {
    const { code, stdout, stderr } = await said(["Hi", "", "Where is my order?"]);
    expect(stdout.split("\n")).toEqual([
      "Hello.",
      "How are you?",
      "  ✓ response quality passed. groundedness 0.9",
      "Let me look.",
      '  ✓ lookup order completed. {"orderId":"A-1"}',
      'So it is: {"status":"lost"}',
      "  ✓ response quality passed. groundedness 0.9",
      "",
    ]);
    expect(stderr).toMatch(new RegExp(`^Come back: orcha chat supportAgent --session ses_\\w+ --config ${configFile}\n$`));
    expect(code).toBe(0);
  });

  test("asks for client actions: yes, no, a reason, JSON, and again where it doesn't fit", async () => {
    const yes = await said(["A refund", "maybe", "y"]);
    expect(yes.stdout).toContain('? request_human_approval {"amount":750,"currency":"USD"}\n  Type y, n, or deny and a reason.\n');
    expect(yes.stdout).toContain('So it is: {"approved":true}');
    expect((await said(["A refund", "n"])).stdout).toContain('So it is: {"approved":false}');
    expect((await said(["A refund", "deny too much"])).stdout).toContain("too much");
    const date = await said(["Pick a date", "tomorrow", '"2026-12-24"']);
    expect(date.stdout).toContain("  That is no JSON: ");
    expect(date.stdout).toContain('So it is: "2026-12-24"');
    const refused = await said(["A refund", '{"approved":1}', "y"]);
    expect(refused.stdout).toMatch(/invalid_tool_result: toolResults\[0\]\.output\.approved .*\n\? request_human_approval/);
    expect(refused.stdout).toContain('So it is: {"approved":true}');
  });

  test("comes back to a conversation, and to the question that it waits for", async () => {
    const first = await said(["Hi", "A refund"]);
    const sessionId = sessionOf(first.stderr);
    expect(first.code).toBe(0);
    const second = await said(["y", "/history", "/quit", "never said"], [...support, "--session", sessionId], first.cwd);
    expect(second.stdout).toContain(`  ${sessionId}\n> Hi\nHello.\nHow are you?\n`);
    expect(second.stdout).toContain('  ? request human approval is waiting for the client. {"amount":750,"currency":"USD"}\n? request_human_approval');
    expect(second.stdout).toContain("  ✓ request human approval completed.\n");
    expect(second.stdout).not.toContain("never said");
  });

  test("a question left open waits: a message says so, /stop cancels it", async () => {
    const { stdout } = await said(["A refund", "", "Hello?", "", "/stop", "Hi"]);
    expect(stdout).toContain("  it goes on waiting.\n");
    expect(stdout).toContain("  client_action_required: ");
    expect(stdout).toMatch(/Nothing runs or waits any more\.\nHello\.\nHow are you\?\n/);
  });

  test("an answer that comes too late shows how the run went on without it", async () => {
    const { stdout, code } = await said(["A refund", "y"], ["chat", "supportAgent", "--config", join(import.meta.dirname, "expiring.config.ts")]);
    expect(stdout).toMatch(/action_result_conflict: call "call_1" has expired[^]*\nNobody was in time\.\n$/);
    expect(code).toBe(0);
  });

  test("a failed run and an unknown command end nothing; a session that was refused is none", async () => {
    const { stdout, code } = await said(["break", "/nope", "/help", "Hi"]);
    expect(stdout).toContain("  provider_error: ");
    expect(stdout).toContain("  There is no /nope: /help\n");
    expect(stdout).toContain("  /stop     ends the run");
    expect(stdout).toContain("Hello.\n");
    expect(code).toBe(0);
    const refused = await said(["Hi"], ["chat", "researcher", ...config]);
    expect([refused.stdout, refused.stderr, refused.code]).toEqual([expect.stringContaining("variables.customer is missing"), "", 0]);
    const opened = await said(["Hi"], ["chat", "researcher", "--variables", '{"customer":"Alice"}', ...config]);
    expect(opened.stdout).toBe("Hello.\nHow are you?\n");
    expect((await said([], [...support, "--session", "ses_none"], opened.cwd)).stderr).toMatch(/^orcha: no session "ses_none"/);
  });
});

/* oxlint-disable no-control-regex -- Escape sequences are what the rest is about. */

/** What a person sees, without colours and movements of the cursor. */
function seen(output: string): string {
  return output.replaceAll(/\u001b\[[\d;]*[A-Za-z]/g, "");
}

async function typing(args: string, place: Place): Promise<Running & { type(text: string): void }> {
  const running = inTerminal(`${typed} ${args}`, { ...place, columns: 80 });
  onTestFinished(() => void running.child.kill());
  return { ...running, type: (text) => void running.child.stdin?.write(text) };
}

const prompt = /> \u001b\[22m\u001b\[3G$/;

describe("orcha chat in a terminal", () => {
  test("streams, stops an answer with Ctrl-C, keeps what was typed meanwhile, and leaves with Ctrl-D", async () => {
    const place = { cwd: await folders() };
    const chat = await typing(support.join(" "), place);
    await chat.printed(prompt);
    chat.type("a long story\r");
    await chat.printed(/And on it goes/);
    chat.type("Hi");
    chat.type("\u0003");
    await chat.printed(/stopped\.[^]*> [^]*Hi/);
    chat.type(" there\r");
    await chat.printed(/How are you\?/);
    await chat.printed(prompt);
    chat.type("\u0004");
    const { code, stdout } = await chat.ended;
    expect(code).toBe(0);
    expect(seen(stdout)).toMatch(/ …\r\n {2}stopped\.\r\n/);
    const sessionId = sessionOf(stdout);
    const history = await orcha(["history", sessionId, "-a", "supportAgent", "--json", ...config], place);
    expect(JSON.parse(history.stdout)).toMatchObject({
      runStatus: "completed",
      items: [{ role: "user" }, { role: "assistant", incomplete: true }, { content: [{ text: "Hi there" }] }, { role: "assistant" }, { type: "evaluation" }],
    });
  });

  test("an approval is asked, and what was typed before the question is no answer to it", async () => {
    const place = { cwd: await folders() };
    const chat = await typing(support.join(" "), place);
    await chat.printed(prompt);
    chat.type("A refund\ry\r");
    await chat.printed(/leaves it open/);
    chat.type("n\r");
    await chat.printed(/So it is[^]*> \u001b\[22m\u001b\[3G$/);
    chat.type("\u0003");
    const { stdout } = await chat.ended;
    expect(seen(stdout)).toContain('So it is: {"approved":false}');
  });

  test("talks to a server, without colours, and leaves with Ctrl-C at the prompt", async () => {
    const place = { cwd: await folders(), env: { NO_COLOR: "1" } };
    const server = start([...program, "serve", ...config], place);
    onTestFinished(() => void server.child.kill());
    const url = /http:\S+/.exec(await server.printed(/at http:\S+\n/))?.[0] ?? "";
    const chat = await typing(`chat supportAgent --url ${url}`, place);
    await chat.printed(/> /);
    chat.type("Where is my order?\r");
    await chat.printed(/So it is/);
    await chat.printed(/passed[^]*> /);
    chat.type("\u0003");
    const { code, stdout } = await chat.ended;
    expect([code, /\u001b\[\d+m/.exec(stdout)]).toEqual([0, null]);
    expect(stdout).toContain(`--session ${sessionOf(stdout)} --url ${url}`);
  });
});
