import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { expect, onTestFinished, test } from "vitest";
import { temporaryFolders } from "../stores.ts";
import { inTerminal, typed } from "./orcha.ts";

const folders = temporaryFolders();
const sessionId = "ses_1";
const at = "2026-05-06T10:00:00.000Z";

const history = {
  sessionId,
  items: [
    { id: "message:2", type: "message", role: "user", content: [{ type: "text", text: "Hi" }], createdAt: at },
    { id: "message:3", type: "message", role: "assistant", content: [{ type: "text", text: "One and all" }], createdAt: at },
    { id: "action:a", type: "action", callId: "a", name: "look", status: "completed", summary: "look completed.", createdAt: at },
    { id: "message:6", type: "message", role: "assistant", content: [{ type: "text", text: "Two and more" }], createdAt: at },
  ],
  total: 4,
  hasMore: false,
  throughSequence: 7,
};
const result = { status: "completed", sessionId, run: 1, output: "Two and more" };

/** A server whose history is always ahead of its stream, as a fast run's is for a slow listener. */
async function serverOf(frames: readonly (readonly [round: number, output: string])[]): Promise<string> {
  const server = createServer((request, response) => {
    const path = new URL(request.url ?? "", "http://x").pathname;
    request.resume();
    if (path === "/api/agents") return response.end(JSON.stringify({ agents: { a: {} } }));
    if (path === "/rpc/history") return response.end(JSON.stringify({ json: history }));
    response.writeHead(200, { "content-type": "text/event-stream" });
    const events: [name: string, data: object][] = [
      ...frames.map(([round, output]): [string, object] => ["frame", { status: "streaming", sessionId, run: 1, round, output }]),
      ["result", result],
      ["evaluations", []],
      ["end", {}],
    ];
    // Each on its own, so that none is skipped for a newer one.
    const write = (): void => {
      const next = events.shift();
      if (!next) return void response.end();
      response.write(`event: ${next[0]}\ndata: ${JSON.stringify(next[1])}\n\n`);
      setTimeout(write, 60);
    };
    return write();
  }).listen(0, "127.0.0.1");
  onTestFinished(() => void server.close());
  await once(server, "listening");
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

test.each([
  ["text in the making that the history has whole", [[0, "One"], [0, "One and"], [1, "Tw"], [1, "Two and more"]]],
  ["a round whose text was never heard", [[1, "Two"]]],
  ["a listener who hears nothing in between", []],
  ["text that goes on after its message was read", [[0, "One"], [1, "Two"], [1, "Two and"], [1, "Two and more"]]],
] as const)("each message is shown once, in its order: %s", async (_name, frames) => {
  const url = await serverOf(frames);
  const { stdout, code } = await inTerminal(`${typed} run a -i Hi --url ${url}`, { cwd: await folders(), env: { NO_COLOR: "1" } }).ended;
  expect(stdout.replaceAll("\r", "")).toMatch(/^One and all\n {2}✓ look completed\.\nTwo and more\nSession ses_\w+ · completed\n$/);
  expect(code).toBe(0);
});
