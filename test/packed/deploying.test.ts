import { once } from "node:events";
import { cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, statSync } from "node:fs";
import { createServer, type AddressInfo } from "node:net";
import { join } from "node:path";
import { maxBodyBytes } from "@orcha/contract";
import { afterAll, expect, onTestFinished, test } from "vitest";
import { parse } from "yaml";
import { shell, start, typed } from "../cli/orcha.ts";
import { samplesOf } from "../docs/samples.ts";
import { root } from "./pnpm.ts";

const page = "docs/deploying.md";
const text = readFileSync(join(root, page), "utf8");
const blocks = [...text.matchAll(/^```sh\n([\s\S]*?)^```$/gm)].map((match) => match[1] ?? "");
const compose = parse(readFileSync(join(root, "compose.yaml"), "utf8")) as { services: Record<string, unknown> };

// Inside the test package, so that the configuration's imports resolve as a reader's would.
const generated = join(import.meta.dirname, ".generated");
mkdirSync(generated, { recursive: true });
const folder = mkdtempSync(join(generated, "deploying-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

test("the page's configuration is the one of the example", () => {
  const samples = samplesOf(page);
  expect(samples.map(({ file }) => file)).toEqual(["orcha.config.ts", "agents.ts"]);
  for (const { file = "", code } of samples) {
    expect(code.replace(/^.*\n/, "")).toBe(readFileSync(join(root, "examples/deploy", file), "utf8"));
  }
});

test("the page's commands run, on a server beside Docker", async () => {
  for (const { file = "" } of samplesOf(page)) cpSync(join(root, "examples/deploy", file), join(folder, file));
  const port = await freePort();
  // `bash -e` with what a reader would have typed; the server is the one command that stays.
  const here = blocks.filter((block) => !/^docker /m.test(block)).map((block) => block.replaceAll("4310", port));
  const [secrets = "", ...rest] = here;
  const ended = [{ block: secrets, ...(await shell(`set -e; ${secrets}`, { cwd: folder })) }];
  expect(statSync(join(folder, ".env")).mode & 0o077).toBe(0);

  const serving = rest.find((block) => block.includes("orcha serve")) ?? "";
  const server = start(["bash", "--norc", "-ec", `${serving.trim().replace("orcha serve", `exec ${typed} serve`)} --port ${port}`], { cwd: folder });
  onTestFinished(() => void server.child.kill("SIGKILL"));
  await server.printed(/Orcha serves supportAgent/);
  for (const block of rest) if (block !== serving) ended.push({ block, ...(await shell(`set -e; ${block}`, { cwd: folder })) });
  for (const { block, code, stderr } of ended) expect({ block, code, stderr }).toMatchObject({ block, code: 0, stderr: expect.not.stringMatching(/^orcha: /m) });
  const printed = ended.map(({ stdout }) => stdout).join("");
  expect(printed).toContain('{"status":"ready"}');
  expect(printed).toContain("supportAgent");

  server.child.kill("SIGTERM");
  expect(await once(server.child, "exit")).toEqual([0, null]);
});

test("the page's Docker commands name what there is", () => {
  const lines = blocks.join("").split("\n").filter((line) => line.startsWith("docker "));
  expect(lines.length).toBeGreaterThan(5);
  for (const line of lines) {
    expect(line).toMatch(/^docker (compose (up|exec|build|stop|start) |build |run )/);
    const service = /^docker compose \w+ (?:-\S+ )*([a-z]\w*)/.exec(line)?.[1] ?? "server";
    expect(Object.keys(compose.services), `the service of ${line}`).toContain(service);
  }
  for (const file of ["Dockerfile", "compose.yaml", "examples/deploy"]) {
    expect(text).toContain(`\`${file}\``);
    expect(existsSync(join(root, file))).toBe(true);
  }
});

test("the proxy lets through what the server takes", () => {
  const megabytes = Number(/client_max_body_size (\d+)m;/.exec(text)?.[1]);
  expect(megabytes * 1024 * 1024).toBeGreaterThan(maxBodyBytes);
  expect(text).toContain(`${maxBodyBytes / 1024 / 1024} MiB`);
});

async function freePort(): Promise<string> {
  const probe = createServer().listen(0, "127.0.0.1");
  await once(probe, "listening");
  const { port } = probe.address() as AddressInfo;
  probe.close();
  await once(probe, "close");
  return String(port);
}
