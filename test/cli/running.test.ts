import { existsSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, inject, onTestFinished, test } from "vitest";
import { leftovers, listed } from "../import/sessions.ts";
import { sqliteIn, temporaryFolders, temporarySchemas } from "../stores.ts";
import { lineOf, writeLog } from "./logs.ts";
import { configFile, inTerminal, orcha, peakMegabytes, program, shell, start, typed } from "./orcha.ts";

const folders = temporaryFolders();
const schemas = temporarySchemas();
const agent = ["--agent", "supportAgent"];

describe("orcha serve", () => {
  test("serves until it is told to stop, and the other commands work over it", async () => {
    const cwd = await folders();
    const token = { ORCHA_TOKEN: "a-token-of-the-tests" };
    await writeLog(join(cwd, "log.jsonl"), 3000, "ses_a");
    expect((await orcha(["import", "log.jsonl", "--config", configFile], { cwd })).code).toBe(0);
    const server = start([...program, "serve", "--config", configFile], { cwd });
    const url = /http:\S+/.exec(await server.printed(/Orcha serves supportAgent, researcher at \S+\n/))?.[0] ?? "";
    const over = ["--url", url, ...agent];
    const refused = await orcha(["list", ...over], { cwd });
    expect([refused.code, refused.stderr]).toEqual([1, "orcha: this server needs a valid token. Give a token: --token, or ORCHA_TOKEN in the environment\n"]);
    const fromPage = await fetch(`${url}/healthz`, { headers: { origin: "https://app.example.com" } });
    expect(fromPage.headers.get("access-control-allow-origin")).toBe("https://app.example.com");
    const list = await orcha(["list", ...over], { cwd, env: token });
    expect(list.stdout).toContain("ses_a");
    const local = await orcha(["history", "ses_a", "--json", "--config", configFile, ...agent], { cwd });
    expect((await orcha(["history", "ses_a", "--json", ...over], { cwd, env: token })).stdout).toBe(local.stdout);
    const exported = await orcha(["export", "ses_a", "--format", "jsonl", ...over], { cwd, env: token });
    expect(exported.stdout).toBe((await orcha(["export", "ses_a", "--format", "jsonl", "--config", configFile, ...agent], { cwd })).stdout);
    const bundle = await orcha(["export", ...over], { cwd, env: token });
    expect((await orcha(["import", "-", "--file", "copy.db"], { cwd, input: bundle.stdout })).stdout).toMatch(/^Imported 1 session/);
    expect((await orcha(["export", "ses_none", ...over], { cwd, env: token })).stderr).toMatch(/^orcha: no session "ses_none"/);
    const typedStore = await orcha(["list", "--file", "copy.db", ...agent], { cwd, env: { ORCHA_URL: "http://127.0.0.1:9" } });
    expect(typedStore.stdout).toContain("ses_a");
    expect((await orcha(["delete", "ses_a", "-y", ...over], { cwd, env: token })).stdout).toBe("Deleted ses_a.\n");
    const remoteImport = await orcha(["import", "log.jsonl", "--file", "other.db", "--url", url], { cwd });
    expect([remoteImport.code, remoteImport.stderr]).toEqual([2, "orcha: --file is for a store of this machine; with --url the server and the token decide\n"]);
    server.child.kill("SIGINT");
    expect((await server.ended).code).toBe(0);
  });

  test("says when the port is taken", async () => {
    const cwd = await folders();
    const server = start([...program, "serve", "--config", configFile], { cwd });
    const port = /:(\d+)\n/.exec(await server.printed(/at \S+\n/))?.[1] ?? "";
    const second = await orcha(["serve", "--config", configFile, "--port", port], { cwd });
    expect([second.code, second.stderr]).toEqual([1, expect.stringContaining("Take another port: --port 4311")]);
    server.child.kill("SIGTERM");
    expect((await server.ended).code).toBe(0);
  });
});

/** Starts a server on `orcha.db` of the folder, and answers the flags and the token of an admin. */
async function served(cwd: string, place: { env?: Record<string, string> } = {}) {
  const server = start([...program, "serve", "--config", configFile], { cwd, ...place });
  onTestFinished(() => void server.child.kill());
  const url = /http:\S+/.exec(await server.printed(/Orcha serves .* at \S+\n/))?.[0] ?? "";
  return { server, over: ["--url", url], admin: { ORCHA_TOKEN: "an-admin-of-the-tests" } };
}

describe("orcha import into a server", () => {
  test("takes what a store takes, and says what a store says", async () => {
    const cwd = await folders();
    const { over, admin: env } = await served(cwd);
    await writeLog(join(cwd, "log.jsonl"), 4_500_000, "ses_a");
    const chat = JSON.stringify([{ role: "user", content: "Hi" }]);
    const cases: [args: string[], input?: string][] = [
      [["log.jsonl"]],
      [["log.jsonl", "--id", "ses_b", "--json"]],
      [["log.jsonl"]],
      [["-", "--id", "ses_chat", ...agent], chat],
      [["-"], chat],
      [["-"], `${lineOf(1)}{`],
      [["-", "--format", "bundle"], lineOf(1)],
      [["nothing.jsonl"]],
      [["."]],
    ];
    for (const [args, input = ""] of cases) {
      const near = await orcha(["import", ...args, "--file", "near.db"], { cwd, input });
      expect(await orcha(["import", ...args, ...over], { cwd, env, input }), `of ${args.join(" ")}`).toEqual(near);
    }
    for (const id of ["ses_a", "ses_b", "ses_chat"]) {
      const page = ["history", id, "--json", ...agent];
      expect((await orcha([...page, ...over], { cwd, env })).stdout.length).toBe((await orcha([...page, "--file", "near.db"], { cwd })).stdout.length);
    }
    const copied = await orcha(["import", "log.jsonl", "--new-ids", ...over], { cwd, env });
    expect(copied.stdout).toMatch(/^Imported 1 session, [\d,]+ events\.\n {2}ses_\w+ {2}supportAgent, [\d,]+ events, ses_a in the file\n$/);
    const writer = await orcha(["import", "log.jsonl", "--new-ids", ...over], { cwd, env: { ORCHA_TOKEN: "a-token-of-the-tests" } });
    expect([writer.code, writer.stderr]).toEqual([1, 'orcha: this call needs the scope "admin"\n']);
    expect((await orcha(["import", "log.jsonl", ...over], { cwd })).stderr).toMatch(/^orcha: this server needs a valid token\. Give a token/);
    const nowhere = await orcha(["import", "log.jsonl", "--url", "http://127.0.0.1:9"], { cwd });
    expect([nowhere.code, nowhere.stderr]).toEqual([1, expect.stringMatching(/^orcha: http:\/\/127\.0\.0\.1:9 can't be reached/)]);
  });

  test("at Ctrl-C leaves nothing behind, and nor does a client that is killed", async () => {
    for (const [signal, expected] of [["SIGINT", 130], ["SIGKILL", null]] as const) {
      const cwd = await folders();
      const { over, admin: env } = await served(cwd);
      const importing = start([...program, "import", "-", ...over], { cwd, env });
      for (let sequence = 1; sequence <= 1501; sequence += 1) importing.child.stdin?.write(lineOf(sequence));
      const store = await sqliteIn(cwd);
      await expect.poll(() => leftovers(store)).toBe(2);
      importing.child.kill(signal);
      const { code, stderr, stdout } = await importing.ended;
      expect([code, stderr, stdout]).toEqual([expected, signal === "SIGINT" ? "orcha: interrupted\n" : "", ""]);
      await expect.poll(() => leftovers(store)).toBe(0);
      expect(await listed(store)).toEqual([]);
      await store.close();
    }
  });

  test("where the server goes away says what became of the file", async () => {
    const cwd = await folders();
    const { server, over, admin: env } = await served(cwd);
    const importing = start([...program, "import", "-", ...over], { cwd, env });
    for (let sequence = 1; sequence <= 1501; sequence += 1) importing.child.stdin?.write(lineOf(sequence));
    const store = await sqliteIn(cwd);
    await expect.poll(() => leftovers(store)).toBe(2);
    await store.close();
    server.child.kill("SIGKILL");
    await server.ended;
    importing.child.stdin?.end(lineOf(1502));
    expect(await importing.ended).toEqual({ code: 1, stderr: "orcha: the connection broke, and nothing was imported\n", stdout: "" });
  });

  test("100 MB go in within 300 MB of memory of the server, and 170 of the command", async () => {
    const cwd = await folders();
    const { server, over, admin: env } = await served(cwd);
    const events = await writeLog(join(cwd, "log.jsonl"), 100_000_000);
    const importing = start([...program, "import", "log.jsonl", ...over], { cwd, env });
    const peaks = [0, 0];
    const watch = setInterval(() => {
      for (const [index, { child }] of [server, importing].entries()) peaks[index] = Math.max(peaks[index] ?? 0, peakMegabytes(child.pid) ?? 0);
    }, 20);
    const { code, stdout } = await importing.ended;
    clearInterval(watch);
    expect([code, stdout]).toEqual([0, expect.stringContaining(`${events.toLocaleString("en-US")} events`)]);
    expect(peaks[0]).toBeLessThan(300);
    expect(peaks[1]).toBeLessThan(170);
  }, 60_000);

  test("shows on a terminal how much was sent", async () => {
    const cwd = await folders();
    const { over, admin: env } = await served(cwd);
    await writeLog(join(cwd, "log.jsonl"), 12_000_000);
    const { stdout, code } = await inTerminal(`${typed} import log.jsonl ${over.join(" ")}`, { cwd, env }).ended;
    expect(code).toBe(0);
    expect(stdout).toMatch(/Importing: [\d.]+ MB of 12 MB, \d+ %\r/);
    expect(stdout).toContain("\u001b[2KImported 1 session");
  });
});

/** Starts an import of a log that doesn't end, and waits until a piece of it is stored. */
async function halfImported(cwd: string) {
  const importing = start([...program, "import", "-", "--file", "orcha.db"], { cwd });
  for (let sequence = 1; sequence <= 1501; sequence += 1) importing.child.stdin?.write(lineOf(sequence));
  await expect.poll(() => existsSync(join(cwd, "orcha.db"))).toBe(true);
  const store = await sqliteIn(cwd);
  await expect.poll(() => leftovers(store)).toBe(2);
  return { importing, store };
}

describe("Ctrl-C in the middle of an import", () => {
  test("leaves nothing behind", async () => {
    const cwd = await folders();
    const { importing, store } = await halfImported(cwd);
    importing.child.kill("SIGINT");
    const { code, stderr, stdout } = await importing.ended;
    expect([code, stderr, stdout]).toEqual([130, "orcha: interrupted\n", ""]);
    expect(await leftovers(store)).toBe(0);
    expect(await listed(store)).toEqual([]);
    await store.close();
  });

  test("and where it is killed, what is left is seen by nobody and in nobody's way", async () => {
    const cwd = await folders();
    const { importing, store } = await halfImported(cwd);
    importing.child.kill("SIGKILL");
    await importing.ended;
    await store.close();
    expect((await orcha(["list", "--file", "orcha.db", ...agent], { cwd })).stdout).toBe("No sessions.\n");
    await writeLog(join(cwd, "log.jsonl"), 3000);
    expect((await orcha(["import", "log.jsonl", "--file", "orcha.db"], { cwd })).code).toBe(0);
  });
});

test("a pipe that is closed early ends quietly", async () => {
  const cwd = await folders();
  await writeLog(join(cwd, "log.jsonl"), 3_000_000);
  const store = `--file orcha.db ${agent.join(" ")}`;
  expect((await orcha(["import", "log.jsonl", "--file", "orcha.db"], { cwd })).code).toBe(0);
  for (const [line, printed] of [
    [`orcha list ${store} | head -1`, /^SESSION.*\n$/],
    [`orcha export ${store} | head -1`, /^\{"format":"orcha-bundle".*\n$/],
    [`orcha events ses_big -n 100 --json ${store} | head -c 10`, /^\{"events":|^.{10}$/],
  ] as const) {
    const { code, stdout, stderr } = await shell(line, { cwd });
    expect(stdout).toMatch(printed);
    expect([code, stderr]).toEqual([0, ""]);
  }
});

test("60 MB go in within 300 MB of memory", async () => {
  const cwd = await folders();
  const events = await writeLog(join(cwd, "log.jsonl"), 60_000_000);
  const importing = start([...program, "import", "log.jsonl", "--file", "orcha.db"], { cwd });
  let peak = 0;
  const watch = setInterval(() => {
    peak = Math.max(peak, peakMegabytes(importing.child.pid) ?? 0);
  }, 20);
  const { code, stdout } = await importing.ended;
  clearInterval(watch);
  expect(code).toBe(0);
  expect(stdout).toContain(`${events.toLocaleString("en-US")} events`);
  expect(peak).toBeLessThan(300);
}, 60_000);

test("long work shows how far it is, on a terminal only", async () => {
  const cwd = await folders();
  await writeLog(join(cwd, "log.jsonl"), 12_000_000);
  const { stdout, code } = await inTerminal(`${typed} import log.jsonl --file orcha.db`, { cwd }).ended;
  expect(code).toBe(0);
  expect(stdout).toMatch(/Importing: [\d.]+ MB of 12 MB, \d+ %, [\d,]+ events/);
  expect(stdout).toContain("\u001b[2KImported 1 session");
});

test("a Postgres database takes and gives as a file does", async () => {
  const cwd = await folders();
  await writeLog(join(cwd, "log.jsonl"), 400_000);
  const place = { cwd, env: { TEST_DATABASE: inject("postgresUrl"), TEST_SCHEMA: schemas() } };
  const config = ["--config", configFile];
  expect((await orcha(["migrate", ...config], place)).stdout).toBe("The store is up to date.\n");
  expect((await orcha(["import", "log.jsonl", ...config], place)).stdout).toMatch(/^Imported 1 session/);
  const again = await orcha(["import", "log.jsonl", ...config], place);
  expect([again.code, again.stderr]).toEqual([1, expect.stringContaining('session "ses_big" exists, or did')]);
  const exported = await shell(`orcha export --config ${configFile} ${agent.join(" ")} | orcha import - --file copy.db`, place);
  expect([exported.code, exported.stderr]).toEqual([0, ""]);
  const page = ["history", "ses_big", "--json", ...agent];
  expect((await orcha([...page, ...config], place)).stdout).toBe((await orcha([...page, "--file", "copy.db"], place)).stdout);
});
