import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { Agent, setDefaultModel } from "@orcha/agent/mobile";
import { scriptedModel } from "@orcha/agent/testing";
import { build, type BuildOptions, type OutputFile } from "esbuild";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { startBrowser } from "./browser.ts";
import { startModelServer } from "./model-server.ts";

const seed = join(import.meta.dirname, "seed");
const found = await startBrowser();

/** Bundles for a browser, where a Node built-in would be an error. */
async function bundle(entry: Pick<BuildOptions, "entryPoints" | "stdin">): Promise<OutputFile[]> {
  const { outputFiles } = await build({
    ...entry,
    bundle: true,
    minify: true,
    splitting: true,
    format: "esm",
    platform: "browser",
    conditions: ["orcha-source"],
    outdir: "/out",
    write: false,
  });
  return outputFiles;
}

afterEach(() => setDefaultModel(undefined));

test("an agent is small, and the parser of plain functions is a piece of its own", async () => {
  const built = await bundle({ stdin: { contents: 'export { Agent } from "@orcha/agent/mobile";', resolveDir: import.meta.dirname } });
  const sizes = built.map(({ path, contents }) => ({ path, bytes: gzipSync(contents, { level: 9 }).length }));
  const [parser, ...rest] = sizes.toSorted((one, other) => other.bytes - one.bytes);
  expect(parser?.path).toContain("read-parameters");
  expect(rest.reduce((sum, { bytes }) => sum + bytes, 0)).toBeLessThan(23_000);
});

test("a model by name is refused in words that help", async () => {
  await expect(new Agent({ model: "openai/gpt-5-mini" }).chat("Hi")).rejects.toThrow('only "@orcha/agent" resolves');
  await expect(new Agent().chat("Hi")).rejects.toThrow("setDefaultModel()");
});

test("plain functions are tools as well", async () => {
  setDefaultModel(scriptedModel([{ toolCalls: [{ name: "getWeather", arguments: { city: "Paris" } }] }, { text: "Sunny" }]));
  const getWeather = (city: string): string => `${city}: sunny`;
  const agent = new Agent({ tools: [getWeather] });
  expect(await agent.chat("Weather?")).toBe("Sunny");
  expect(agent.getHistory()[2]?.content).toBe("Paris: sunny");
  await expect(new Agent({ tools: [Math.max] }).chat("Hi")).rejects.toThrow('the tool "max"');
});

afterAll(async () => {
  if ("browser" in found) await found.browser.close();
});

const missing = "reason" in found ? ` (skipped, there is none: ${found.reason})` : "";
describe(`in a browser${missing}`, { skip: missing !== "" }, () => {
  let pages: Server;
  let models: Awaited<ReturnType<typeof startModelServer>>;
  let files: Map<string, string>;

  beforeAll(async () => {
    models = await startModelServer();
    const built = await bundle({ entryPoints: [join(seed, "mobile-save.ts"), join(seed, "mobile-reopen.ts")] });
    files = new Map(built.map(({ path, text }) => [path.replace("/out", ""), text]));
    pages = createServer(({ url = "" }, response) => {
      const script = files.get(new URL(url, "http://localhost").pathname);
      response.setHeader("content-type", script === undefined ? "text/html" : "text/javascript");
      response.end(script ?? `<script type="module" src="${new URL(url, "http://localhost").pathname}.js"></script>`);
    });
    await new Promise<void>((resolve) => pages.listen(0, "127.0.0.1", resolve));
  }, 30_000);

  afterAll(async () => {
    pages.closeAllConnections();
    pages.close();
    await models.stop();
  });

  test("a chat is saved to a key-value store, and reopened after the app was closed", { timeout: 30_000 }, async () => {
    if ("reason" in found) throw new Error(found.reason);
    const context = await found.browser.newContext();
    try {
      const { port } = pages.address() as AddressInfo;
      const open = async (sample: string) => {
        const page = await context.newPage();
        const faults: string[] = [];
        page.on("pageerror", (error) => faults.push(error.message));
        await page.goto(`http://127.0.0.1:${port}/${sample}?models=${encodeURIComponent(`${models.url}/v1`)}`);
        return { page, faults };
      };
      const first = await open("mobile-save");
      await first.page.waitForFunction(() => localStorage.getItem("chat") !== null);
      await first.page.close();
      const second = await open("mobile-reopen");
      await second.page.waitForFunction(() => document.title !== "");
      expect(await second.page.title()).toBe("Your name is Alice");
      expect([...first.faults, ...second.faults]).toEqual([]);
      expect(models.asked()).toHaveLength(2);
      expect(JSON.stringify(models.asked()[1]?.body["messages"])).toContain("My name is Alice");
    } finally {
      await context.close();
    }
  });
});
