import { spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { mkdirSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import { createOrcha, type Orcha } from "@orcha/client";
import type { Browser, BrowserContextOptions, Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { startBrowser } from "../agent/browser.ts";
import type { agents } from "../agents.ts";

const example = join(import.meta.dirname, "../../examples/react-support/server/main.ts");
const axe = createRequire(import.meta.url).resolve("axe-core/axe.min.js");
// Pictures of the pages are kept where a person asks for them.
const { ORCHA_SCREENSHOTS: pictures } = process.env;

const starting = startExample();
starting.catch(() => {});
const found = await startBrowser();
const missing = "reason" in found ? ` (skipped, there is none: ${found.reason})` : "";

afterAll(async () => {
  if ("browser" in found) await found.browser.close();
  (await starting).child.kill();
});

async function startExample(): Promise<{ child: ChildProcess; url: string }> {
  const flags = ["--conditions=orcha-source", example, "--built", "--port", "0"];
  const child = spawn(process.execPath, flags, { stdio: ["ignore", "pipe", "inherit"], env: { ...process.env, NODE_ENV: "production" } });
  let output = "";
  for await (const chunk of child.stdout) {
    output += String(chunk);
    const url = /Open (http:\S+?)\/?\s/.exec(output)?.[1];
    if (url) return { child, url };
  }
  const [code] = (await once(child, "exit")) as [number];
  throw new Error(`the example ended with ${code}: ${output}`);
}

describe(`the app in a browser${missing}`, { skip: missing !== "", timeout: 30_000 }, () => {
  let browser: Browser;
  let url: string;
  let orcha: Orcha<typeof agents>;

  beforeAll(async () => {
    if ("reason" in found) throw new Error(found.reason);
    browser = found.browser;
    url = (await starting).url;
    orcha = createOrcha<typeof agents>({ baseUrl: url });
  }, 60_000);

  /** A window of a person of its own. Errors of the page fail the test. */
  async function windowOf(options: BrowserContextOptions = {}, path = "/"): Promise<Page> {
    const context = await browser.newContext({ viewport: { width: 1100, height: 720 }, ...options });
    const page = await context.newPage();
    const faults: string[] = [];
    page.on("pageerror", (error) => faults.push(error.message));
    page.on("console", (message) => {
      // What is not found is told to the reader, too.
      if (message.type() === "error" && !message.text().includes("404")) faults.push(message.text());
    });
    onTestFinished(async () => {
      await context.close();
      expect(faults).toEqual([]);
    });
    await page.goto(url + path);
    return page;
  }

  /** What a conversation shows, one after the other. */
  const said = (page: Page): Promise<string[]> => page.locator(".timeline li").allInnerTexts();

  test("shown in two windows: approved in one, by keyboard alone, and the other follows", async () => {
    const one = await windowOf({ colorScheme: "light" });
    await one.getByRole("textbox", { name: "New message" }).fill("My order A-1042 never came");
    await one.keyboard.press("Enter");
    await one.getByRole("heading", { name: "Approve a refund?" }).waitFor();
    const two = await windowOf({ colorScheme: "dark" });
    await two.getByRole("navigation", { name: "Conversations" }).getByText("My order A-1042").click();
    const card = two.getByRole("region", { name: "Approve a refund?" });
    expect(await card.innerText()).toContain("$750.00 for order A-1042");
    expect(await two.getByRole("button", { name: "Approve", exact: true }).count()).toBe(1);
    await picture(one, "approval-light");
    await picture(two, "approval-dark");
    for (const page of [one, two]) expect(await faultsOf(page)).toEqual([]);

    // From the heading, which has the focus in a conversation that was just opened.
    expect(await one.evaluate(() => document.activeElement?.tagName)).toBe("H1");
    for (let presses = 0; presses < 10; presses += 1) {
      await one.keyboard.press("Tab");
      if ((await one.evaluate(() => document.activeElement?.textContent)) === "Approve") break;
    }
    await one.keyboard.press("Enter");
    for (const page of [one, two]) {
      await card.waitFor({ state: "detached" });
      await page.getByText("the refund is approved", { exact: false }).first().waitFor();
    }
    expect(await one.evaluate(() => document.activeElement?.tagName)).toBe("TEXTAREA");
    await one.getByRole("status").filter({ hasText: "Support said: Good news" }).waitFor({ state: "attached" });
    await two.getByText("Answered").first().waitFor();
    expect(await said(two)).toEqual(await said(one));
    expect((await said(one)).filter((text) => text.includes("never came"))).toHaveLength(1);
  });

  test("loaded again in the midst of an answer, goes on with it", async () => {
    const page = await windowOf();
    await page.getByRole("textbox", { name: "New message" }).fill("Explain how refunds work");
    await page.getByRole("button", { name: "Send" }).click();
    const answer = page.locator("[data-streaming]");
    await answer.getByText("When a parcel is lost", { exact: false }).waitFor();
    const before = (await answer.innerText()).length;
    await page.reload();
    await answer.getByText("When a parcel is lost", { exact: false }).waitFor();
    await picture(page, "streaming-light");
    expect((await answer.innerText()).length).toBeGreaterThanOrEqual(before);
    expect(await answer.count()).toBe(1);
    expect(await page.getByRole("button", { name: "Stop" }).count()).toBe(1);
    await answer.waitFor({ state: "detached" });
    const all = await said(page);
    expect(all).toHaveLength(2);
    expect(all[1]).toContain("within three working days.");
  });

  test("stopped, keeps what was said, and goes on with the next message", async () => {
    const page = await windowOf();
    await page.getByRole("textbox", { name: "New message" }).fill("Explain the policy");
    await page.keyboard.press("Enter");
    await page.locator("[data-streaming]").getByText("how refunds", { exact: false }).waitFor();
    await page.getByRole("button", { name: "Stop" }).click();
    await page.locator(".timeline").getByText("Stopped").waitFor();
    await page.getByRole("textbox", { name: "Message" }).fill("Thanks");
    await page.keyboard.press("Enter");
    await page.getByText("Which one is it?", { exact: false }).last().waitFor();
    expect((await said(page)).filter((text) => text.includes("Thanks"))).toHaveLength(1);
  });

  test("loads earlier messages while new ones arrive, and nothing jumps", async () => {
    const messages = Array.from({ length: 120 }, (_, index) => ({
      role: index % 2 === 0 ? ("user" as const) : ("assistant" as const),
      content: `Message ${index}. ${"It has a length of its own. ".repeat((index * 7) % 5)}`,
    }));
    const { session } = await orcha.supportAgent.restore(messages, { name: "A long one" });
    const page = await windowOf({}, `/#${session.sessionId}`);
    await page.getByText("Message 119.").waitFor();
    const timeline = page.getByRole("region", { name: "Messages" });
    const isAtEnd = () => timeline.evaluate((element) => element.scrollHeight - element.scrollTop - element.clientHeight < 2);
    expect(await isAtEnd()).toBe(true);
    const isLoaded = (index: number) => page.getByText(`Message ${index}.`, { exact: false }).count();
    expect(await isLoaded(60)).toBe(0);

    let appended = 120;
    let oldest = 100;
    while (oldest > 0) {
      // Up to what is there; a message arrives while the page before it does.
      await timeline.evaluate((element) => element.scrollTo(0, 120));
      const kept = page.locator("[data-item]").filter({ hasText: `Message ${oldest + 2}.` }).first();
      const before = await kept.evaluate((element) => element.getBoundingClientRect().top);
      await orcha.supportAgent.append(session.sessionId, { messages: [{ role: "user", content: `Message ${appended}.` }] });
      await page.getByText(`Message ${appended}.`).waitFor({ state: "attached" });
      await expect.poll(() => isLoaded(Math.max(0, oldest - 20))).toBe(1);
      const after = await kept.evaluate((element) => element.getBoundingClientRect().top);
      expect(Math.abs(after - before)).toBeLessThanOrEqual(1);
      oldest -= 20;
      appended += 1;
    }
    const numbers = (await said(page)).map((text) => Number(/Message (\d+)\./.exec(text)?.[1]));
    expect(numbers).toEqual(Array.from({ length: appended }, (_, index) => index));
    expect(await page.getByRole("button", { name: "Earlier messages" }).count()).toBe(0);

    // At the end again, it stays there.
    await timeline.focus();
    await page.keyboard.press("End");
    await expect.poll(isAtEnd).toBe(true);
    await orcha.supportAgent.append(session.sessionId, { messages: [{ role: "user", content: "The very last" }] });
    await page.getByText("The very last").waitFor();
    expect(await isAtEnd()).toBe(true);
    await picture(page, "long-light");

    // As where a phone shows its keyboard, or is turned.
    for (const size of [{ width: 1100, height: 420 }, { width: 420, height: 700 }, { width: 1100, height: 720 }]) {
      await page.setViewportSize(size);
      await expect.poll(isAtEnd).toBe(true);
    }
  });

  test("fits a phone, and says why a conversation can't be shown", async () => {
    const { session } = await orcha.supportAgent.restore([{ role: "user", content: "Hello" }, { role: "assistant", content: "Hello, you" }], { name: "Short" });
    const phone = { viewport: { width: 390, height: 700 }, colorScheme: "dark" } as const;
    const page = await windowOf(phone, `/#${session.sessionId}`);
    await page.getByText("Hello, you").waitFor();
    expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBe(390);
    expect(await faultsOf(page)).toEqual([]);
    await picture(page, "phone-dark");
    await page.getByRole("link", { name: "All conversations" }).click();
    await page.getByRole("heading", { name: "Conversations" }).waitFor();
    expect(await faultsOf(page)).toEqual([]);
    await picture(page, "phone-inbox-dark");
    await page.goto(`${url}/#nowhere`);
    await page.getByRole("alert").getByText("no session", { exact: false }).waitFor();
  });
});

/** What an accessibility checker finds on a page. */
async function faultsOf(page: Page): Promise<string[]> {
  await page.addScriptTag({ path: axe });
  return page.evaluate(async () => {
    const { axe } = window as unknown as { axe: { run: () => Promise<{ violations: { id: string; nodes: { html: string }[] }[] }> } };
    const { violations } = await axe.run();
    return violations.map(({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html).join(" | ")}`);
  });
}

async function picture(page: Page, name: string): Promise<void> {
  if (pictures === undefined) return;
  mkdirSync(pictures, { recursive: true });
  await page.screenshot({ path: join(pictures, `${name}.png`) });
}
