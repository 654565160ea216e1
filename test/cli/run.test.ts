import { existsSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import { temporaryFolders } from "../stores.ts";
import { inTerminal, orcha, program, shell, start, typed, type Place, type Running } from "./orcha.ts";

const folders = temporaryFolders();
const config = ["--config", join(import.meta.dirname, "runs.config.ts")];
const flags = config.join(" ");

async function here(): Promise<Place> {
  return { cwd: await folders() };
}

/** A server of the same agents in another process, and the flags that lead to it. */
async function serving({ cwd }: Place): Promise<{ server: Running; over: string[] }> {
  const server = start([...program, "serve", ...config], { cwd });
  onTestFinished(() => void server.child.kill());
  return { server, over: ["--url", /http:\S+/.exec(await server.printed(/at http:\S+\n/))?.[0] ?? ""] };
}

async function served(place: Place): Promise<string[]> {
  return (await serving(place)).over;
}

interface Result {
  sessionId: string;
  status: string;
  run: number;
  output: unknown;
  pendingClientActions: { callId: string }[];
}

/** What `--json` prints. */
async function resultOf(args: readonly string[], place: Place): Promise<Result> {
  return JSON.parse((await orcha(["run", ...args, "--json"], place)).stdout) as Result;
}

describe("orcha run in a pipe", () => {
  test("prints the final text and nothing else, and notes where nobody parses them", async () => {
    const { code, stdout, stderr } = await orcha(["run", "supportAgent", "--input", "Where is my order?", ...config], await here());
    expect(stdout).toBe('So it is: {"status":"lost"}\n');
    expect(stderr).toMatch(/^Session ses_\w+ · completed\n$/);
    expect(code).toBe(0);
  });

  test("goes on with a session, reads its input, and gives a new one what it is told", async () => {
    const place = await here();
    const opening = ["--name", "A question", "--metadata", '{"tier":"paid"}', "--variables", '{"customer":"Alice"}'];
    const { sessionId } = await resultOf(["researcher", "--input", "Hi", ...opening, ...config], place);
    writeFileSync(join(place.cwd, "question.txt"), "Tell me more");
    expect(await resultOf(["researcher", "-s", sessionId, "--input-file", "question.txt", ...config], place)).toMatchObject({ sessionId, run: 2 });
    const piped = await shell(`echo 'And more' | orcha run researcher -s ${sessionId} --input-file - ${flags}`, place);
    expect(piped.stdout).toBe("Hello.\nHow are you?\n");
    const history = JSON.parse((await orcha(["history", sessionId, "-a", "researcher", "--json", ...config], place)).stdout) as object;
    expect(history).toMatchObject({ name: "A question", metadata: { tier: "paid" }, total: 6 });
    expect(JSON.stringify(history)).toContain("And more");
  });

  test("structured output is JSON, and control characters of a model do nothing", async () => {
    const place = await here();
    expect((await orcha(["run", "sorter", "-i", "It crashes", ...config], place)).stdout).toBe('{"label":"bug"}\n');
    expect((await orcha(["run", "supportAgent", "-i", "What colour?", ...config], place)).stdout).toBe("Red: \ufffd[31mred\n");
  });

  test("says what waits with the very command that answers it, which works", async () => {
    const place = await here();
    const waiting = await orcha(["run", "supportAgent", "-i", "A refund, please", ...config], place);
    expect([waiting.code, waiting.stdout]).toEqual([4, ""]);
    expect(waiting.stderr).toMatch(/Waits for request_human_approval \{"amount":750,"currency":"USD"\} \(call_2, until [\d: -]+\)/);
    const line = /Answer: (.*)/.exec(waiting.stderr)?.[1] ?? "";
    const answered = await shell(line, place);
    expect([answered.code, answered.stdout]).toEqual([0, 'So it is: {"approved":true}\n']);
    expect((await shell(line, place)).stdout).toBe('So it is: {"approved":true}\n');
  });

  test("denies, and says what is wrong with an answer", async () => {
    const place = await here();
    const { sessionId, pendingClientActions } = await resultOf(["supportAgent", "-i", "A refund", ...config], place);
    const callId = pendingClientActions[0]?.callId;
    const answer = async (result: object) => {
      writeFileSync(join(place.cwd, "answers.json"), JSON.stringify([{ callId, ...result }]));
      return orcha(["run", "supportAgent", "-s", sessionId, "--tool-results", "answers.json", ...config], place);
    };
    const wrong = await answer({ output: { approved: "yes" } });
    expect([wrong.code, wrong.stderr]).toEqual([1, expect.stringMatching(/^orcha: toolResults\[0\]\.output\.approved .*boolean/)]);
    expect((await answer({ deny: true, reason: "too much" })).stdout).toContain("denied");
  });

  test("--json is the result itself", async () => {
    const place = await here();
    expect(await resultOf(["supportAgent", "-i", "A refund", ...config], place)).toMatchObject({
      status: "waiting_for_client_action",
      run: 1,
      pendingClientActions: [{ name: "request_human_approval", arguments: { amount: 750, currency: "USD" } }],
    });
    expect(await resultOf(["sorter", "-i", "x", ...config], place)).toMatchObject({ status: "completed", output: { label: "bug" } });
  });
});

describe("how a run ended is the exit code", () => {
  const cases: [name: string, args: string[], code: number, words: RegExp][] = [
    ["a failed run", ["supportAgent", "-i", "break", ...config], 3, /failed\nprovider_error: .*overloaded/],
    ["a store that isn't there", ["supportAgent", "-i", "x", "-s", "ses_none", ...config], 1, /^orcha: there is no file orcha\.db$/],
    ["a missing variable", ["researcher", "-i", "x", ...config], 1, /^orcha: variables\.customer is missing/],
    ["no input", ["supportAgent", ...config], 2, /^orcha: say something: --input TEXT, or --input-file FILE/],
    ["two inputs", ["supportAgent", "-i", "x", "--input-file", "y", ...config], 2, /^orcha: .*cannot be used with/],
    ["answers to nobody", ["supportAgent", "--tool-results", "-", ...config], 2, /^orcha: --tool-results needs --session/],
    ["metadata that is no JSON", ["supportAgent", "-i", "x", "--metadata", "{", ...config], 2, /^orcha: --metadata is no JSON/],
    ["metadata that is no object", ["supportAgent", "-i", "x", "--metadata", "[]", ...config], 2, /^orcha: --metadata must be a JSON object/],
    ["a name for an old session", ["supportAgent", "-i", "x", "-s", "ses_1", "--name", "y", ...config], 2, /^orcha: --name is for a new session/],
    ["a missing input file", ["supportAgent", "--input-file", "nothing.txt", ...config], 1, /^orcha: there is no file nothing\.txt/],
    ["an agent that runs elsewhere", ["elsewhere", "-i", "x", ...config], 2, /^orcha: elsewhere can't run here: give orcha\.config\.ts/],
    ["no configuration", ["a", "-i", "x", "--file", "orcha.db"], 2, /^orcha: a can't run here/],
    ["a server that isn't there", ["a", "-i", "x", "--url", "http://127.0.0.1:9"], 1, /^orcha: http:\/\/127\.0\.0\.1:9 can't be reached/],
  ];
  test.each(cases)("%s", async (_name, args, code, words) => {
    const ended = await orcha(["run", ...args], { ...(await here()), input: "" });
    expect(ended.stderr.trimEnd()).toMatch(words);
    expect(ended.code).toBe(code);
  });
});

test("what can't run makes no file, and an unknown session is said", async () => {
  const place = await here();
  await orcha(["run", "a", "-i", "x", "--file", "orcha.db"], place);
  expect(existsSync(join(place.cwd, "orcha.db"))).toBe(false);
  await orcha(["migrate", ...config], place);
  const { code, stderr } = await orcha(["run", "supportAgent", "-i", "x", "-s", "ses_none", ...config], place);
  expect([code, stderr]).toEqual([1, 'orcha: no session "ses_none". See which there are: orcha list\n']);
});

describe("Ctrl-C", () => {
  test("ends a run of this process, and keeps what it said", async () => {
    const place = await here();
    const running = inTerminal(`${typed} run supportAgent -i long ${flags}`, place);
    await running.printed(/And on it goes/);
    running.child.stdin?.write("\u0003");
    const { code, stdout } = await running.ended;
    expect(code).toBe(130);
    const sessionId = /Session (ses_\w+) · stopped/.exec(stdout)?.[1] ?? "";
    const history = await orcha(["history", sessionId, "-a", "supportAgent", "--json", ...config], place);
    expect(JSON.parse(history.stdout)).toMatchObject({ runStatus: "stopped", items: [{ role: "user" }, { role: "assistant", incomplete: true }] });
  });

  test("leaves a run on a server alone, which orcha stop and orcha pause can end", async () => {
    const place = await here();
    const over = await served(place);
    for (const [command, words, runStatus] of [
      ["stop", "Stopped", "stopped"],
      ["pause", "Paused", "paused"],
    ] as const) {
      const running = inTerminal(`${typed} run supportAgent -i long ${over.join(" ")}`, place);
      await running.printed(/And on it goes/);
      running.child.stdin?.write("\u0003");
      const { code, stdout } = await running.ended;
      expect(code).toBe(130);
      const sessionId = /goes on without a listener\. End it: orcha stop (ses_\w+) --agent supportAgent --url/.exec(stdout)?.[1] ?? "";
      const session = [sessionId, "--agent", "supportAgent", ...over];
      const get = async () => JSON.parse((await orcha(["history", ...session, "--json"], place)).stdout) as object;
      expect(await get()).toMatchObject({ runStatus: "running" });
      expect((await orcha([command, ...session], place)).stdout).toBe(`${words} ${sessionId}.\n`);
      expect(await get()).toMatchObject({ runStatus, items: [{}, { incomplete: true }] });
      const next = await orcha(["run", "supportAgent", "-s", sessionId, ...over], place);
      expect([next.code, next.stdout]).toEqual([0, "Hello.\nHow are you?\n"]);
    }
  });
});

test("a run whose server goes away says where to look for it", async () => {
  const place = await here();
  const { server, over } = await serving(place);
  const running = inTerminal(`${typed} run supportAgent -i long ${over.join(" ")}`, place);
  await running.printed(/And on it goes/);
  server.child.kill("SIGKILL");
  const { code, stdout } = await running.ended;
  expect(stdout).toMatch(/can't be reached \(ECONNREFUSED\); what became of the run is not known\. See it: orcha history ses_\w+ --agent supportAgent --url http/);
  expect(code).toBe(1);
});

test("a run that somebody else ended has the exit code 5", async () => {
  const place = await here();
  const over = await served(place);
  const running = start([...program, "run", "supportAgent", "-i", "long", ...over], place);
  const list = ["list", "-a", "supportAgent", "--json", ...over];
  const listed = async () => (JSON.parse((await orcha(list, place)).stdout) as { items: { sessionId: string }[] }).items[0]?.sessionId;
  await expect.poll(listed).toMatch(/^ses_/);
  const sessionId = (await listed()) ?? "";
  await orcha(["stop", sessionId, "-a", "supportAgent", ...over], place);
  const { code, stderr } = await running.ended;
  expect([code, stderr]).toEqual([5, `Session ${sessionId} · stopped\n`]);
});

describe("in a terminal", () => {
  test("the text grows, rounds and actions have lines of their own, and each is told once", async () => {
    const { code, stdout } = await inTerminal(`${typed} run supportAgent -i 'Where is my order?' ${flags}`, await here()).ended;
    expect(code).toBe(0);
    // oxlint-disable-next-line no-control-regex -- Escape sequences are what this is about.
    const lines = stdout.replaceAll(/\u001b\[[\d;]*m/g, "").replaceAll(/\r\u001b\[2K[^\r\n]*(?=\r\u001b)/g, "").replaceAll("\r\u001b[2K", "").split("\r\n");
    expect(lines).toEqual([
      "Let me look.",
      '  ✓ lookup order completed. {"orderId":"A-1"}',
      'So it is: {"status":"lost"}',
      "  ✓ response quality passed. groundedness 0.9",
      expect.stringMatching(/^Session ses_\w+ · completed$/),
      "",
    ]);
    expect(stdout).toContain("\u001b[2m  ✓ lookup");
  });

  test("structured output shows when it is whole", async () => {
    const { stdout } = await inTerminal(`${typed} run sorter -i x ${flags}`, await here()).ended;
    expect(stdout).toMatch(/^\{\r\n {2}"label": "bug"\r\n\}\r\nSession/);
  });
});
