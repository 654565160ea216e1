import { Agent, request } from "node:http";
import { connect } from "node:net";
import { maxBodyBytes } from "@orcha/contract";
import { memoryStore } from "@orcha/server";
import { expect, onTestFinished, test, vi } from "vitest";
import { lineOf } from "../cli/logs.ts";
import { serverOf } from "../harness.ts";

/** Sends requests on one connection, which waits for each answer and is used again. */
function oneConnection(port: number) {
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  onTestFinished(() => agent.destroy());
  return (method: string, path: string, body = "", headers: Record<string, string> = {}): Promise<number | undefined> =>
    new Promise((resolve, reject) => {
      const sending = request({ port, host: "127.0.0.1", method, path, headers, agent }, (response) => {
        response.resume().once("end", () => resolve(response.statusCode));
      });
      sending.once("error", reject).end(body);
    });
}

test.each([
  ["a file of another kind", "/api/import", "<html>".padEnd(1_500_000, "x"), true, 415],
  ["a broken log", "/api/import", `${lineOf(1, "ses_a")}no event\n`.padEnd(1_500_000, "x"), true, 400],
  ["a large body", "/rpc/create", "x".repeat(maxBodyBytes + 300_000), true, 413],
  ["a large body of no length", "/rpc/create", "x".repeat(maxBodyBytes + 300_000), false, 413],
])("behind %s, which is refused, its connection takes the next request", async (_name, path, body, tellsLength, status) => {
  const { server } = await serverOf(memoryStore());
  const send = oneConnection(server.port);
  const length: [string, string] = tellsLength ? ["content-length", String(body.length)] : ["transfer-encoding", "chunked"];
  expect(await send("POST", path, body, { "content-type": "application/json", [length[0]]: length[1] })).toBe(status);
  expect(await send("GET", "/healthz")).toBe(200);
  expect(await send("GET", "/healthz")).toBe(200);
});

test("a caller who is refused, and leaves in the middle of the body, leaves no timer behind", async () => {
  const { server } = await serverOf(memoryStore());
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"], shouldAdvanceTime: true });
  onTestFinished(() => void vi.useRealTimers());
  const caller = connect(server.port, "127.0.0.1");
  const heard = new Promise((resolve) => caller.once("data", resolve));
  const head = ["POST /rpc/create HTTP/1.1", "host: localhost", "content-type: application/json", `content-length: ${maxBodyBytes + 1}`];
  caller.write(`${head.join("\r\n")}\r\n\r\n{`);
  expect(String(await heard)).toContain("413");
  caller.destroy();
  await expect.poll(() => vi.getTimerCount()).toBe(0);
});
