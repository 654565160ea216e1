import { readFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { createOrcha } from "@orcha/client";
import { setupOrcha } from "@orcha/testing/node";
import { build } from "esbuild";
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { startBrowser } from "../agent/browser.ts";
import { agents } from "../runs/agents.ts";
import { normal } from "./normal.ts";
import { startServer } from "./real-server.ts";
import { play, scenario } from "./scenario.ts";

const retry = { minDelayMs: 1, maxDelayMs: 10 };
const found = await startBrowser();
let real: unknown;

beforeAll(async () => {
  const server = await startServer();
  try {
    real = normal(await play({ orcha: createOrcha<typeof agents>({ baseUrl: server.url, retry }), cut: server.cut }));
  } finally {
    await server.stop();
  }
}, 30_000);
afterAll(async () => {
  if ("browser" in found) await found.browser.close();
});

test("a real server is there to be compared with", () => {
  expect(real).toMatchObject({
    pages: { read: [{ total: 23, hasMore: true }, {}, {}, { hasMore: false }], newest: { total: 27 } },
    run: { waiting: { status: "waiting_for_client_action" }, result: { status: "completed" }, isWhole: true, streamed: true },
    refusals: { taken: { code: "session_exists", status: 409 }, conflict: { code: "sequence_conflict" }, completed: { code: "session_completed" } },
  });
});

test("the mock in Node answers what a real server does", async () => {
  const mock = setupOrcha(agents, scenario);
  mock.listen();
  onTestFinished(() => mock.close());
  const orcha = createOrcha<typeof agents>({ baseUrl: "https://agents.example.com", retry });
  expect(normal(await play({ orcha, cut: () => void mock.cut() }))).toEqual(real);
});

const missing = "reason" in found ? ` (skipped, there is none: ${found.reason})` : "";
describe(`in a browser${missing}`, { skip: missing !== "" }, () => {
  test("the mock behind a service worker answers what a real server does", { timeout: 30_000 }, async () => {
    if ("reason" in found) throw new Error(found.reason);
    const url = await servePages();
    const context = await found.browser.newContext();
    onTestFinished(() => context.close());
    const page = await context.newPage();
    const faults: string[] = [];
    page.on("pageerror", (error) => faults.push(error.message));
    await page.goto(url);
    await page.waitForFunction(() => document.title === "ready");
    const report = await page.evaluate(() => (globalThis as { report?: Promise<unknown> }).report);
    expect(faults).toEqual([]);
    expect(normal(report)).toEqual(real);
  });
});

async function servePages(): Promise<string> {
  const { outputFiles } = await build({
    entryPoints: [new URL("browser-scenario.ts", import.meta.url).pathname],
    bundle: true,
    format: "esm",
    platform: "browser",
    conditions: ["orcha-source"],
    write: false,
  });
  const files = new Map([
    ["/scenario.js", outputFiles[0]?.text ?? ""],
    ["/mockServiceWorker.js", readFileSync(new URL(import.meta.resolve("msw/mockServiceWorker.js")), "utf8")],
  ]);
  const server = createServer(({ url = "" }, response) => {
    const script = files.get(url);
    response.setHeader("content-type", script === undefined ? "text/html" : "text/javascript");
    response.end(script ?? '<script type="module" src="/scenario.js"></script>');
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
}
