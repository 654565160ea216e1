import { existsSync, readFileSync, readdirSync, statSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { defineAgent, defineAgents, type Agents } from "@orcha/contract";
import { bearerTokens, memoryStore } from "@orcha/server";
import { serve } from "@orcha/server/node";
import * as v from "valibot";
import { describe, expect, onTestFinished, test } from "vitest";
import { agents } from "../agents.ts";
import { temporaryFolders } from "../stores.ts";
import { answering } from "./answering.ts";
import { configFile, orcha } from "./orcha.ts";

const folders = temporaryFolders();
const base = ["--base-url", "http://localhost:4310"];

/** Serves agents, and answers the flag that names the server. */
async function served(agents: Agents, token?: string): Promise<string[]> {
  const auth = token === undefined ? {} : { auth: bearerTokens([{ token, tenant: "default", scopes: ["read"] }]) };
  const server = await serve({ agents, store: memoryStore(), port: 0, ...auth });
  onTestFinished(() => server.close());
  return ["--url", server.url];
}

const lookup = { description: "Finds an order", input: v.object({ orderId: v.string() }) };
const before = defineAgents({
  support: defineAgent({
    description: "Answers",
    metadata: v.object({ customerId: v.string() }),
    actions: { lookup_order: lookup, refund: { input: v.object({ amount: v.number() }) } },
    skills: { triage: { description: "Sorts" } },
    evaluations: { "a quality": { metrics: { m: { threshold: 0.5 } } } },
  }),
  reader: defineAgent({}),
});
const after = defineAgents({
  support: defineAgent({
    description: "Answers",
    metadata: v.object({ customerId: v.string(), tier: v.string() }),
    actions: { lookup_order: lookup, refund: { input: v.object({ amount: v.string() }) }, cancel: { input: v.object({}) } },
    evaluations: { "a quality": { metrics: { m: { threshold: 0.6 } } } },
    subagents: ["writer"],
  }),
  writer: defineAgent({ actions: { write: lookup } }),
});
const changes = [
  "  changed  support.metadata",
  '  changed  support.evaluations["a quality"]',
  "  added    support.subagents",
  "  changed  support.actions.refund",
  "  added    support.actions.cancel",
  "  removed  support.skills.triage",
  "  added    writer",
  "  removed  reader",
];

describe("orcha generate", () => {
  test("writes the same from a server and from its configuration, and only what has changed", async () => {
    const cwd = await folders();
    const fromServer = await orcha(["generate", ...(await served(agents)), "--out", "a.ts", ...base], { cwd });
    expect(fromServer).toEqual({ code: 0, stdout: "Wrote a.ts: 2 agents.\n", stderr: "" });
    const file = join(cwd, "a.ts");
    const text = readFileSync(file, "utf8");
    const { mtimeMs, ino } = statSync(file);
    const again = await orcha(["generate", "--config", configFile, "-o", "a.ts", ...base], { cwd, env: { ORCHA_URL: "http://127.0.0.1:9" } });
    expect(again).toEqual({ code: 0, stdout: "a.ts is up to date.\n", stderr: "" });
    expect(readFileSync(file, "utf8")).toBe(text);
    expect(statSync(file)).toMatchObject({ mtimeMs, ino });
    expect(readdirSync(cwd)).toEqual(["a.ts"]);
  });

  test("has an address to call: the server's, the configuration's, or the one that is given", async () => {
    const cwd = await folders();
    const addressIn = async (...args: string[]): Promise<string | undefined> => {
      const { code, stderr } = await orcha(["generate", "--out", "a.ts", ...args], { cwd });
      expect([code, stderr]).toEqual([0, ""]);
      return /^const baseUrl = "(.*)";$/m.exec(readFileSync(join(cwd, "a.ts"), "utf8"))?.[1];
    };
    const server = await served(agents);
    expect(await addressIn(...server)).toBe(server[1]);
    expect(await addressIn("--url", `${server[1] ?? ""}/`, "--base-url", "https://agents.example.com/orcha/")).toBe("https://agents.example.com/orcha");
    for (const [settings, address] of [
      ["", "http://127.0.0.1:4310"],
      ['hostname: "0.0.0.0", port: 80', "http://127.0.0.1:80"],
      ['hostname: "::1"', "http://[::1]:4310"],
    ]) {
      writeFileSync(join(cwd, "orcha.config.mjs"), `export default { agents: {}, ${settings} };\n`);
      expect(await addressIn()).toBe(address);
    }
  });

  test("says what has changed since the last time", async () => {
    const cwd = await folders();
    await orcha(["generate", ...(await served(before)), "--out", "a.ts", ...base], { cwd });
    const { code, stdout } = await orcha(["generate", ...(await served(after)), "--out", "a.ts", ...base], { cwd });
    expect([code, stdout.split("\n").toSorted()]).toEqual([0, ["Wrote a.ts: 2 agents.", ...changes, ""].toSorted()]);
  });

  test("shows a token where the server wants one, and keeps it out of the file", async () => {
    const cwd = await folders();
    const token = "a-token-of-this-test";
    const args = ["generate", ...(await served(agents, token)), "--out", "a.ts"];
    expect(await orcha(args, { cwd })).toMatchObject({ code: 1, stderr: expect.stringMatching(/^orcha: .*Give a token: --token, or ORCHA_TOKEN in the environment\n$/) });
    expect(await orcha([...args, "--token", "another-token-of-this-test"], { cwd })).toMatchObject({ code: 1, stderr: expect.stringMatching(/^orcha: .*Give a token/) });
    expect(existsSync(join(cwd, "a.ts"))).toBe(false);
    expect(await orcha(args, { cwd, env: { ORCHA_TOKEN: token } })).toMatchObject({ code: 0, stderr: "" });
    expect(readFileSync(join(cwd, "a.ts"), "utf8")).not.toContain(token);
  });
});

describe("orcha generate --check", () => {
  test("is 0 while the definitions are those of the file, whatever formats it, and 1 with what moved", async () => {
    const cwd = await folders();
    const [old, now] = [await served(before), await served(after)];
    const missing = await orcha(["generate", ...old, "--out", "a.ts", "--check"], { cwd });
    expect(missing).toEqual({ code: 1, stdout: "", stderr: "orcha: there is no file a.ts. Make it: orcha generate\n" });
    expect(existsSync(join(cwd, "a.ts"))).toBe(false);
    await orcha(["generate", ...old, "--out", "a.ts"], { cwd });
    const file = join(cwd, "a.ts");
    const written = readFileSync(file, "utf8");
    const formatted = written.split("\n").map((line) => (line.startsWith("//") ? line : line.replaceAll('"', "'").replaceAll("  ", "\t"))).join("\r\n");
    for (const text of [written, formatted]) {
      writeFileSync(file, text);
      expect(await orcha(["generate", ...old, "--out", "a.ts", "--check"], { cwd })).toEqual({ code: 0, stdout: "a.ts is up to date.\n", stderr: "" });
      const moved = await orcha(["generate", ...now, "--out", "a.ts", "--check"], { cwd });
      expect([moved.code, moved.stderr]).toEqual([1, "orcha: a.ts is out of date. Make it anew: orcha generate\n"]);
      expect(moved.stdout.split("\n").toSorted()).toEqual([...changes, ""].toSorted());
      expect(readFileSync(file, "utf8")).toBe(text);
    }
  });

  test("names a bounded number of changes", async () => {
    const cwd = await folders();
    const many = (count: number): Agents => defineAgents({ a: defineAgent({ actions: Object.fromEntries(Array.from({ length: count }, (_, index) => [`act_${index}`, lookup])) }) });
    await orcha(["generate", ...(await served(many(1))), "--out", "a.ts"], { cwd });
    const { stdout } = await orcha(["generate", ...(await served(many(100))), "--out", "a.ts", "--check"], { cwd });
    expect(stdout.split("\n")).toHaveLength(32);
    expect(stdout).toContain("  … and 69 more\n");
  });
});

describe("what is wrong is said in one line, and nothing is written", () => {
  const own = "export const mine = 1;\n";

  const cases: [name: string, args: string[], code: number, words: RegExp][] = [
    ["no file", [], 2, /^orcha: required option '-o, --out <path>' not specified$/],
    ["no agents", ["--out", "a.ts"], 2, /^orcha: no agents are named: give --url http:\/\/…, or write orcha\.config\.ts$/],
    ["no configuration", ["--out", "a.ts", "--config", "none.ts"], 2, /^orcha: there is no configuration file none\.ts$/],
    ["a server and a configuration", ["--out", "a.ts", "--url", "http://a", "--config", "b.ts"], 2, /^orcha: give --url or --config, not both$/],
    ["no address", ["--out", "a.ts", "--url", "localhost"], 2, /^orcha: --url must be like http:\/\/127\.0\.0\.1:4310, not localhost$/],
    ["a password", ["--out", "a.ts", "--url", "http://me:secret@a"], 2, /^orcha: --url must be an address alone, without a user, a query or a fragment$/],
    ["an address with a query", ["--out", "a.ts", "--url", "http://a", "--base-url", "http://b?c"], 2, /^orcha: --base-url must be an address alone/],
    ["any port", ["--out", "a.ts", "--config", configFile], 2, /^orcha: the configuration takes any port: say where clients find the server with --base-url$/],
    ["a server that isn't there", ["--out", "a.ts", "--url", "http://127.0.0.1:9"], 1, /^orcha: http:\/\/127\.0\.0\.1:9 can't be reached/],
    ["a file of one's own", ["--out", "own.ts", "--config", configFile, ...base], 1, /^orcha: own\.ts isn't a file of orcha generate: name another, or delete it$/],
    ["a folder", ["--out", ".", "--config", configFile, ...base], 1, /^orcha: that is a folder, not a file$/],
    ["no such folder", ["--out", "src/a.ts", "--config", configFile, ...base], 1, /^orcha: there is no folder src$/],
    ["a name that is too long to be written first", ["--out", `${"x".repeat(252)}.ts`, "--config", configFile, ...base], 1, /^orcha: x+\.ts can't be written \(ENAMETOOLONG\)$/],
  ];
  test.each(cases)("%s", async (_name, args, code, words) => {
    const cwd = await folders();
    writeFileSync(join(cwd, "own.ts"), own);
    const ended = await orcha(["generate", ...args], { cwd });
    expect(ended.stderr.trimEnd()).toMatch(words);
    expect([ended.code, ended.stdout]).toEqual([code, ""]);
    expect(readdirSync(cwd).toSorted()).toEqual(["own.ts"]);
    expect(readFileSync(join(cwd, "own.ts"), "utf8")).toBe(own);
  });

  test.each([
    ["a page", 200, "<html>", /answers 200, and not as an Orcha server does$/],
    ["a redirect", 302, "", /^orcha: the server answers 302$/],
    ["an older or another server", 404, '{"code":"not_found","message":"no such page"}', /^orcha: no such page$/],
    ["no definitions", 200, "{}", /doesn't describe its agents as an Orcha server does$/],
    ["a version that leaves its comment", 200, '{"version":"a\\nexport const x = 1","agents":{}}', /doesn't describe its agents/],
    ["agents of another form", 200, '{"version":"a","agents":{"a":{"actions":[]}}}', /doesn't describe its agents/],
    ["an action without an input", 200, '{"version":"a","agents":{"a":{"actions":{"b":{}},"clientActions":{},"skills":{},"evaluations":{},"subagents":[]}}}', /doesn't describe its agents/],
  ])("a server that answers with %s", async (_name, status, body, words) => {
    const cwd = await folders();
    const ended = await orcha(["generate", "--url", await answering(status, body), "--out", "a.ts"], { cwd });
    expect(ended.stderr.trimEnd()).toMatch(words);
    expect([ended.code, readdirSync(cwd)]).toEqual([1, []]);
  });

  test("a server that takes the call and never answers", async () => {
    const cwd = await folders();
    const server = createServer(() => {});
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    onTestFinished(() => server.closeAllConnections());
    onTestFinished(() => void server.close());
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    // Its minute lasts half a second.
    const quick = "globalThis.setTimeout = ((set) => (act, time, ...given) => set(act, time === 60000 ? 500 : time, ...given))(setTimeout)";
    const env = { NODE_OPTIONS: `--import=data:text/javascript,${encodeURIComponent(quick)}` };
    const ended = await Promise.all([["generate", "--out", "a.ts"], ["list", "--agent", "supportAgent"]].map((args) => orcha([...args, "--url", url], { cwd, env })));
    for (const { code, stderr } of ended) expect([code, stderr]).toEqual([1, `orcha: ${url} gave no answer for 60 seconds\n`]);
  });

  test("a server that breaks off in the midst of its answer", async () => {
    const cwd = await folders();
    const server = createServer((_request, response) => {
      response.writeHead(200, { "content-length": "1000" });
      response.write("{", () => response.destroy());
    });
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    onTestFinished(() => void server.close());
    const { port } = server.address() as AddressInfo;
    const ended = await orcha(["generate", "--url", `http://127.0.0.1:${port}`, "--out", "a.ts"], { cwd });
    expect(ended.stderr).toBe(`orcha: http://127.0.0.1:${port} broke off in the midst of its answer\n`);
    expect([ended.code, readdirSync(cwd)]).toEqual([1, []]);
  });
});
