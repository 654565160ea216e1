import { existsSync } from "node:fs";
import { chromium, type Browser } from "playwright-core";

/** A browser that has started, or why there is none. */
export type FoundBrowser = { browser: Browser } | { reason: string };

const installed = ["/usr/bin/chromium", "/usr/bin/chromium-browser", "/usr/bin/google-chrome"];

/** Starts a Chromium: the one of the npm package, else one that the system has. */
export async function startBrowser(): Promise<FoundBrowser> {
  const reasons: string[] = [];
  try {
    const { default: packaged } = await import("@sparticuz/chromium");
    const executablePath = await packaged.executablePath();
    // In one process, as it is meant for small machines, the browser would end with its first window.
    return await tried(executablePath, packaged.args.filter((flag) => flag !== "--single-process" && flag !== "--no-zygote"));
  } catch (error) {
    reasons.push(error instanceof Error ? (error.message.split("\n")[0] ?? "") : String(error));
  }
  for (const executablePath of installed.filter(existsSync)) {
    try {
      return await tried(executablePath, ["--no-sandbox"]);
    } catch (error) {
      reasons.push(error instanceof Error ? (error.message.split("\n")[0] ?? "") : String(error));
    }
  }
  return { reason: reasons.join("; ") };
}

/** A browser is there only once it has started: libraries of the system may be missing. */
async function tried(executablePath: string, args: string[]): Promise<FoundBrowser> {
  return { browser: await chromium.launch({ executablePath, args, headless: true }) };
}
