import { copyFileSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, describe, expect, onTestFinished, test } from "vitest";
import { samplesOf } from "../docs/samples.ts";
import { lineOf } from "./logs.ts";
import { shell, start, typed } from "./orcha.ts";
import { freePort } from "../free-port.ts";

// Inside the test package, so that the configuration's imports resolve as a reader's would.
const generated = join(import.meta.dirname, ".generated");
mkdirSync(generated, { recursive: true });
const root = mkdtempSync(join(generated, "pages-"));
afterAll(() => rmSync(root, { recursive: true, force: true }));

const pages = ["docs/command-line.md", "docs/generated-client.md", "docs/import-export.md"];

/** The commands of a page, block by block. */
function blocksOf(page: string): string[] {
  const text = readFileSync(join(import.meta.dirname, "../..", page), "utf8");
  return [...text.matchAll(/^```sh\n([\s\S]*?)^```$/gm)].map((match) => match[1] ?? "");
}

/** Needs no key, where a reader's model does. */
const offline = '(await import("@orcha/agent/testing")).scriptedModel(() => ({ text: "It is on its way." }))';

/** A folder with what the page takes for granted: its own files, a log, a list of messages, and a question. */
function folderOf(page: string): string {
  const cwd = mkdtempSync(join(root, "page-"));
  for (const { file, code } of samplesOf(page)) if (file !== undefined) writeFileSync(join(cwd, file), code.replace('"openai/gpt-5-mini"', offline));
  writeFileSync(join(cwd, "log.jsonl"), Array.from({ length: 30 }, (_, index) => lineOf(index + 1, "ses_1")).join(""));
  writeFileSync(join(cwd, "question.txt"), "Where is my order?\n");
  copyFileSync(join(import.meta.dirname, "../corpus/007-tool-message-without-name/input.json"), join(cwd, "chat.json"));
  return cwd;
}

describe("every command of the pages runs", () => {
  test.each(pages)("%s", async (page) => {
    const cwd = folderOf(page);
    const port = String(await freePort());
    const blocks = blocksOf(page);
    expect(blocks.length).toBeGreaterThan(1);
    const ended = [];
    for (const block of blocks) {
      const line = block.replaceAll("4310", port);
      if (line.startsWith("orcha serve")) {
        const server = start(["bash", "--norc", "-c", `exec ${line.trim().replace("orcha", typed)} --port ${port}`], { cwd });
        onTestFinished(() => void server.child.kill());
        await server.printed(/Orcha serves/);
      } else ended.push({ block, ...(await shell(`set -e; ${line}`, { cwd })) });
    }
    for (const { block, code, stderr } of ended) expect({ block, code, stderr }).toEqual({ block, code: 0, stderr: expect.not.stringMatching(/^orcha: /) });
  });
});
