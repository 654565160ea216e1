import { execFile } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { errorTable } from "@orcha/contract";
import { memoryStore } from "@orcha/server";
import { serve } from "@orcha/server/node";
import { expect, onTestFinished, test } from "vitest";
import { agents } from "../agents.ts";
import { implementations, seedChild } from "./cases.ts";
import { operations, requestOf } from "./rest.ts";

const page = readFileSync(join(import.meta.dirname, "../../docs/http-api.md"), "utf8");
const run = promisify(execFile);

/** The commands of the page, each with the part of its answer that the page shows. */
const commands = [...page.matchAll(/^```sh\n(curl [\s\S]*?)^```$(?:\n\n```json\n([\s\S]*?)^```$)?/gm)].map(([, command = "", answer]) => ({ command, answer }));

test("every command works, and answers what the page shows", async () => {
  const store = memoryStore();
  await seedChild(store);
  const server = await serve({ agents, store, implementations, port: 0 });
  onTestFinished(() => server.close());
  for (const { command, answer } of commands) {
    const here = command.replaceAll("http://127.0.0.1:4310", server.url).replace(/^curl /, "curl -sS --fail-with-body ");
    const { stdout } = await run("sh", ["-c", here]).catch((error: { stdout: string }) => {
      throw new Error(`${command}\n${error.stdout}`, { cause: error });
    });
    const got: unknown = answer === undefined ? {} : JSON.parse(stdout);
    expect(got).toEqual(partOf(JSON.parse(answer ?? "{}")));
  }
});

/** Matches what is shown, and lets the rest be. */
function partOf(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(partOf);
  if (typeof value !== "object" || value === null) return value;
  const shown = Object.entries(value).map(([key, child]) => [key, partOf(child)] as const);
  return expect.objectContaining(Object.fromEntries(shown));
}

test("every operation has its command", () => {
  const asked = commands.map(({ command }) => {
    const path = /http:\/\/127\.0\.0\.1:4310(\/[^\s"?]*)/.exec(command)?.[1];
    const method = /-X (\w+)/.exec(command)?.[1] ?? (/ -G /.test(command) || !/ -d /.test(command) ? "GET" : "POST");
    return `${method} ${path?.replace(/(order-\d|child)/, "ses").replace("researcher", "supportAgent")}`;
  });
  for (const operation of operations) {
    const [path, { method }] = requestOf(operation, { agent: "supportAgent", ...(operation === "list" ? {} : { sessionId: "ses" }) });
    expect(asked).toContain(`${method} ${path}`);
  }
});

test("the errors are the table's", () => {
  const rows = [...page.matchAll(/^\| `(\w+)` \| (\d+) \| (yes|no) \|$/gm)].map(([, code, status, retryable]) => [code, { status: Number(status), retryable: retryable === "yes" }]);
  expect(Object.fromEntries(rows)).toEqual(errorTable);
});
