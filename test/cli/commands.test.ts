import { once } from "node:events";
import { copyFileSync, existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { temporaryFolders } from "../stores.ts";
import { configFile, inTerminal, orcha, shell, typed, type Ended, type Place } from "./orcha.ts";

const folders = temporaryFolders();
const here: Place = { cwd: "" };
const store = ["--file", "orcha.db", "--agent", "supportAgent"];

const hostile = "Refund \u001b[31mred\u001b[0m 日本語 👍 please, and this goes on for quite a while longer";

function ok({ code, stdout, stderr }: Ended): string {
  expect(stderr).toBe("");
  expect(code).toBe(0);
  return stdout;
}

beforeAll(async () => {
  here.cwd = await folders();
  const corpus = join(import.meta.dirname, "../corpus/023-crash-resume-no-rerun/input.jsonl");
  copyFileSync(corpus, join(here.cwd, "log.jsonl"));
  writeFileSync(join(here.cwd, "chat.json"), JSON.stringify([{ role: "user", content: hostile }]));
  ok(await orcha(["import", "log.jsonl", ...store], here));
  ok(await orcha(["import", "chat.json", "--id", "ses_chat", ...store], here));
});

describe("reading", () => {
  test("list, history, events and messages as tables", async () => {
    const list = ok(await orcha(["list", ...store], here));
    expect(list).toMatch(/^SESSION +STATUS +UPDATED +EVENTS +NAME\n/);
    expect(list).toMatch(/^ses_t023 +running +2026-05-06 10:00:01 +7$/m);
    const history = ok(await orcha(["history", "ses_t023", ...store], here));
    expect(history).toMatch(/action +completed +charge card completed\./);
    expect(history).toContain("Page 1, 3 items in all");
    expect(ok(await orcha(["history", "ses_t023", "-n", "1", ...store], here))).toContain("older ones: --page 2");
    expect(ok(await orcha(["events", "ses_t023", ...store], here))).toMatch(/^1 +2026-05-06 10:00:00 +session\.created +\{/m);
    expect(ok(await orcha(["messages", "ses_t023", ...store], here))).toMatch(/^assistant +→ charge_card\(\{"amount":5\}\) call_pay/m);
  });

  test("a table in a pipe is whole", async () => {
    const content = `${"All of it. ".repeat(400)}The end.`;
    ok(await orcha(["import", "-", "--file", "long.db", "--agent", "supportAgent", "--id", "ses_long"], { ...here, input: JSON.stringify([{ role: "user", content }]) }));
    for (const command of ["history", "events", "messages"]) {
      expect(ok(await orcha([command, "ses_long", "--file", "long.db", "--agent", "supportAgent"], here))).toContain(content);
    }
  });

  test("--json is the server's own answer", async () => {
    const list: { items: { sessionId: string }[] } = JSON.parse(ok(await orcha(["list", "--json", ...store], here)));
    expect(list.items.map(({ sessionId }) => sessionId).toSorted()).toEqual(["ses_chat", "ses_t023"]);
    expect(JSON.parse(ok(await orcha(["history", "ses_t023", "--json", ...store], here)))).toMatchObject({ total: 3, sessionId: "ses_t023" });
    expect(JSON.parse(ok(await orcha(["events", "ses_t023", "-j", ...store], here)))).toMatchObject({ total: 7 });
    expect(JSON.parse(ok(await orcha(["messages", "ses_chat", "-j", ...store], here)))).toEqual([{ role: "user", content: hostile }]);
  });

  test("the configuration names the store and the agents", async () => {
    const config = ["--config", configFile];
    expect(ok(await orcha(["list", "--agent", "supportAgent", ...config], here))).toContain("ses_chat");
    const { code, stderr } = await orcha(["list", ...config], here);
    expect([code, stderr]).toEqual([2, "orcha: say which agent: --agent supportAgent, or researcher\n"]);
  });
});

describe("in a terminal", () => {
  test("tables fit, colours show, and stored control characters do nothing", async () => {
    let stdout = "";
    for (const session of ["ses_t023", "ses_chat"]) {
      const shown = await inTerminal(`${typed} history ${session} ${store.join(" ")}`, here).ended;
      expect(shown.code).toBe(0);
      stdout += shown.stdout;
    }
    const lines = stdout.split("\r\n");
    expect(stdout).toContain("\u001b[32mcompleted");
    expect(stdout).toContain("\u001b[36mrunning");
    expect(stdout).not.toContain("\u001b[31mred");
    // oxlint-disable-next-line no-control-regex -- Escape sequences are what this is about.
    const widths = lines.map((line) => line.replaceAll(/\u001b\[[\d;]*m/g, "").replaceAll(/[日本語👍]/gu, "xx").length);
    expect(Math.max(...widths)).toBeLessThanOrEqual(60);
    expect(stdout).toContain("…");
  });

  test("NO_COLOR is respected", async () => {
    const { stdout } = await inTerminal(`${typed} list ${store.join(" ")}`, { ...here, env: { NO_COLOR: "1" } }).ended;
    expect(stdout).toContain("ses_chat");
    expect(stdout).not.toContain("\u001b[");
  });
});

describe("what is wrong is said in one line, with an exit code", () => {
  const cases: [name: string, args: string[], code: number, words: RegExp][] = [
    ["a bad flag", ["list", "--jsom"], 2, /^orcha: unknown option '--jsom' \(Did you mean --json\?\)$/],
    ["a bad command", ["lst"], 2, /^orcha: unknown command 'lst' \(Did you mean list\?\)$/],
    ["a bad number", ["list", "-n", "0", ...store], 2, /^orcha: .*It must be a whole number from 1 to 100\.$/],
    ["a bad choice", ["list", "--status", "gone", ...store], 2, /^orcha: .*Allowed choices are active, paused, completed\.$/],
    ["a missing argument", ["history"], 2, /^orcha: missing required argument 'session'$/],
    ["a missing file", ["import", "nothing.jsonl", ...store], 1, /^orcha: there is no file nothing\.jsonl$/],
    ["a missing store", ["list", "--file", "nothing.db", "--agent", "a"], 1, /^orcha: there is no file nothing\.db$/],
    ["no store at all", ["list", "--agent", "a"], 2, /^orcha: no store is named: give --file/],
    ["a store of a variable that isn't set", ["import", "chat.json", "--agent", "a", "--file", ""], 2, /^orcha: --file is empty: give the path/],
    ["a database of a variable that isn't set", ["migrate", "--database", " "], 2, /^orcha: --database is empty: give an address/],
    ["two stores", ["list", "--agent", "a", "--file", "a", "--database", "b"], 2, /^orcha: give --file or --database, not both$/],
    ["no agent", ["list", "--file", "orcha.db"], 2, /^orcha: say which agent: --agent NAME$/],
    ["a missing configuration", ["list", "--config", "none.ts"], 2, /^orcha: there is no configuration file none\.ts$/],
    ["a server without configuration", ["serve"], 2, /^orcha: a server needs agents: write orcha\.config\.ts/],
    ["an unknown session", ["history", "ses_none", ...store], 1, /^orcha: no session "ses_none"\. See which there are: orcha list$/],
    ["a server that isn't there", ["list", "--agent", "a", "--url", "http://127.0.0.1:9"], 1, /^orcha: http:\/\/127\.0\.0\.1:9 can't be reached/],
    ["no address", ["list", "--agent", "a", "--url", "localhost"], 2, /^orcha: --url must be like http/],
    ["an address with a password", ["list", "--agent", "a", "--url", "http://me:secret@a"], 2, /^orcha: --url must be an address alone, without a user, a query or a fragment$/],
    ["an address with a query", ["import", "log.jsonl", "--url", "http://a?b"], 2, /^orcha: --url must be an address alone/],
    ["a store behind a server", ["list", "--agent", "a", "--url", "http://a", "--file", "b"], 2, /^orcha: --file is for a store of this machine/],
    ["a configuration and a server", ["list", "--agent", "a", "--url", "http://a", "--config", "b.ts"], 2, /^orcha: --config is for a store of this machine; with --url the server/],
    ["a tenant of a server", ["list", "--agent", "a", "--url", "http://a", "--tenant", "b"], 2, /^orcha: --tenant is for a store of this machine; with --url the server/],
    ["a token for a store", ["list", "--agent", "a", "--token", "a", "--file", "b"], 2, /^orcha: --file is for a store of this machine; with --token the server/],
    ["a token of two lines", ["list", "--agent", "a", "--url", "http://a", "--token", "a secret\nof two lines"], 2, /^orcha: --token, or ORCHA_TOKEN in the environment, must be visible ASCII characters/],
    ["a token of an import", ["import", "log.jsonl", "--url", "http://a", "--token", "geheimnißvoll"], 2, /^orcha: --token, or ORCHA_TOKEN/],
    ["a reserved tenant", ["list", "--tenant", "\u0001import", ...store], 2, /^orcha: --tenant has a control character$/],
    ["a deletion by a script", ["delete", "ses_chat", ...store], 2, /^orcha: this deletes for good: add --yes to mean it$/],
    ["a second import", ["import", "log.jsonl", ...store], 1, /^orcha: session "ses_t023" exists, or did: nothing was imported\. .*--new-ids$/],
    ["an export of no session", ["export", "ses_none", ...store], 1, /^orcha: no session "ses_none"/],
    ["an export into no folder", ["export", "-o", "nowhere/a.jsonl", ...store], 1, /^orcha: there is no folder nowhere$/],
    ["an export into a folder", ["export", "-o", ".", ...store], 1, /^orcha: \. can't be written \(E\w+\)$/],
    ["a log of two", ["export", "a", "b", "--format", "jsonl", ...store], 2, /^orcha: --format jsonl is of one session: name it$/],
  ];
  test.each(cases)("%s", async (_name, args, code, words) => {
    const ended = await orcha(args, { ...here, input: "" });
    expect(ended.stderr.trimEnd()).toMatch(words);
    expect(ended.stderr.trimEnd().split("\n")).toHaveLength(1);
    expect(ended.stdout).toBe("");
    expect(ended.code).toBe(code);
  });

  test.each([
    ["store: { file: process.env.NOTHING }", /: store must be \{ file \} or \{ database \}/],
    ['store: { file: "" }', /: store must be/],
    ['store: "orcha.db"', /: store must be/],
    ["store: () => undefined", /the function that is the configuration's store answers no store$/],
    ['port: "x"', /: port must be a whole number from 0 to 65535$/],
    ["port: 70000", /: port must be/],
    ["cors: true", /: cors must be \{ origins/],
    ['cors: { origins: "*" }', /: cors\.origins must be a list/],
    ["maxImportBytes: -1", /: maxImportBytes must be/],
    ['tokens: "x"', /: tokens must be a list$/],
    ["agents: []", /: agents must be what defineAgents makes$/],
  ])("a configuration with %s", async (field, words) => {
    const cwd = await folders();
    writeFileSync(join(cwd, "orcha.config.mjs"), `export default { agents: {}, store: { file: "made.db" }, ${field} };`);
    const { code, stdout, stderr } = await orcha(["list", "--agent", "a"], { cwd });
    expect([code, stdout]).toEqual([1, ""]);
    expect(stderr).toMatch(/^orcha: [^\n]+\n$/);
    expect(stderr.trimEnd()).toMatch(words);
    expect(readdirSync(cwd)).toEqual(["orcha.config.mjs"]);
  });

  test("a damaged file, from a pipe", async () => {
    const { code, stderr } = await shell("head -c 900 log.jsonl | tail -c 700 | orcha import - --format session-log --file new.db", here);
    expect(stderr).toMatch(/^orcha: line 1: is not JSON\n$/);
    expect(code).toBe(1);
  });

  test.each([["list"], ["export"], ["run", "supportAgent", "--input", "Hi"]])("a server of the environment gives way to what is typed: %s", async (...args) => {
    const env = { ORCHA_URL: "http://127.0.0.1:9" };
    const agent = args[0] === "run" ? [] : ["--agent", "supportAgent"];
    for (const typedFlag of [["--config", configFile], ["--file", "orcha.db"], ["--database", "postgres://127.0.0.1:9/none"], ["--tenant", "default"]]) {
      const { stderr } = await orcha([...args, ...agent, ...typedFlag], { ...here, env });
      expect([typedFlag[0], stderr]).not.toEqual([typedFlag[0], expect.stringMatching(/127\.0\.0\.1:9 can't be reached/)]);
    }
    const { stderr } = await orcha([...args, ...agent], { ...here, env });
    expect(stderr).toMatch(/127\.0\.0\.1:9 can't be reached/);
  });

  test("a blank address and a blank token of the environment are none", async () => {
    const env = { ORCHA_URL: "", ORCHA_TOKEN: " " };
    expect(ok(await orcha(["list", "--config", configFile, "--agent", "supportAgent"], { ...here, env }))).toContain("ses_chat");
    expect(ok(await orcha(["generate", "--config", configFile, "--out", "a.gen.ts", "--base-url", "http://a"], { ...here, env }))).toContain("Wrote");
    const { stderr } = await orcha(["list", "--agent", "a", "--url", "http://127.0.0.1:9"], { ...here, env });
    expect(stderr).toMatch(/can't be reached/);
  });

  // Only Linux has a device that is always full.
  test.runIf(existsSync("/dev/full"))("an output that takes nothing", async () => {
    const { code, stderr } = await shell(`orcha list ${store.join(" ")} > /dev/full`, here);
    expect([code, stderr]).toEqual([1, "orcha: the output can't be written (ENOSPC)\n"]);
  });

  test("the version is that of the package, and nothing else", async () => {
    const { version }: { version: string } = JSON.parse(readFileSync(join(import.meta.dirname, "../../packages/server/package.json"), "utf8"));
    expect(ok(await orcha(["--version"], here))).toBe(`${version}\n`);
  });

  test("help is no failure, and no command is one", async () => {
    const help = await orcha(["import", "--help"], here);
    expect(help.code).toBe(0);
    expect(help.stdout).toContain("Examples:\n  orcha import ses_1.jsonl --file orcha.db");
    expect((await orcha([], here)).code).toBe(2);
  });
});

describe("export and import", () => {
  test("by pipe and by file, with nothing half written", async () => {
    ok(await shell(`orcha export ${store.join(" ")} | orcha import - --file copy.db`, here));
    const copy = ["--file", "copy.db", "--agent", "supportAgent"];
    for (const question of [["history", "ses_t023"], ["events", "ses_t023"], ["messages", "ses_chat"]]) {
      const args = [...question, "--json"];
      expect(ok(await orcha([...args, ...copy], here))).toBe(ok(await orcha([...args, ...store], here)));
    }
    const { code, stderr } = await orcha(["export", "-o", "bundle.jsonl", ...store], here);
    expect([code, stderr]).toEqual([0, "Exported to bundle.jsonl.\n"]);
    expect((await orcha(["export", "ses_none", "-o", "none.jsonl", ...store], here)).code).toBe(1);
    expect(readdirSync(here.cwd).filter((name) => /^(bundle|none)/.test(name))).toEqual(["bundle.jsonl"]);
    expect(ok(await orcha(["import", "bundle.jsonl", "--new-ids", ...copy], here))).toMatch(/Imported 2 sessions, 9 events\.\n {2}ses_\w+ {2}supportAgent, \d events?, ses_/);
  });

  test("a link stays a link, and a pipe with a name stays a pipe", async () => {
    const cwd = await folders();
    const flags = `--file ${join(here.cwd, "orcha.db")} --agent supportAgent`;
    ok(await shell(`touch file.jsonl; ln -s file.jsonl link.jsonl; orcha export ${flags} -o link.jsonl 2>&1 >/dev/null | grep -q link && test -L link.jsonl`, { cwd }));
    ok(await shell(`mkfifo pipe; timeout 30 cat pipe > piped.jsonl & orcha export ${flags} -o pipe 2>/dev/null; wait; test -p pipe`, { cwd }));
    expect(readdirSync(cwd).toSorted()).toEqual(["file.jsonl", "link.jsonl", "pipe", "piped.jsonl"]);
    for (const file of ["file.jsonl", "piped.jsonl"]) expect(readFileSync(join(cwd, file), "utf8")).toMatch(/"end":\{.*\}\}\n$/);
  });

  test("two exports into one file at once leave a whole one", async () => {
    const cwd = await folders();
    const created = { sequence: 1, v: 1, type: "session.created", timestamp: "2026-09-28T12:00:00.000Z", data: { sessionId: "ses_1", agent: "supportAgent" } };
    const answers: Record<string, object> = { list: { items: [{ sessionId: "ses_1" }] }, get: { sequence: 1 }, events: { events: [created] } };
    const both = Promise.withResolvers<void>();
    let waiting = 0;
    // Each export has begun its file before either one may end it.
    const server = createServer(({ url = "" }, response) => {
      const operation = url.replace("/rpc/", "");
      const answer = (): void => void response.end(JSON.stringify({ json: answers[operation] }));
      if (operation !== "events") return answer();
      if ((waiting += 1) === 2) both.resolve();
      void both.promise.then(answer);
    }).listen(0, "127.0.0.1");
    onTestFinished(() => void server.close());
    await once(server, "listening");
    const { port } = server.address() as AddressInfo;
    const args = ["export", "--url", `http://127.0.0.1:${port}`, "--agent", "supportAgent", "-o", "a.jsonl"];
    expect((await Promise.all([orcha(args, { cwd }), orcha(args, { cwd })])).map(({ code }) => code)).toEqual([0, 0]);
    expect(readdirSync(cwd)).toEqual(["a.jsonl"]);
    expect((await orcha(["import", "a.jsonl", "--file", "copy.db"], { cwd })).code).toBe(0);
  });

  test("a session's log is the one that came in", async () => {
    const exported = ok(await orcha(["export", "ses_t023", "--format", "jsonl", ...store], here)).trimEnd().split("\n");
    const original = readFileSync(join(here.cwd, "log.jsonl"), "utf8").trimEnd().split("\n");
    const withoutAgent = (line: string) => line.replace(/"agent":"\w+"/, "");
    expect(exported.map((line) => withoutAgent(line.replace('"v":1,', "")))).toEqual(original.map(withoutAgent));
  });
});

test("complete and delete", async () => {
  ok(await orcha(["import", "chat.json", "--id", "ses_end", ...store], here));
  expect(ok(await orcha(["complete", "ses_end", "--summary", "refunded.", ...store], here))).toBe("Completed ses_end.\n");
  expect(ok(await orcha(["history", "ses_end", ...store], here))).toMatch(/session_completed +completed +refunded\./);
  expect(ok(await orcha(["delete", "ses_end", "--yes", ...store], here))).toBe("Deleted ses_end.\n");
  expect((await orcha(["history", "ses_end", ...store], here)).code).toBe(1);
});
