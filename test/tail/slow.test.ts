import { connect } from "node:net";
import { memoryStore } from "@orcha/server";
import { expect, test } from "vitest";
import { serverOf } from "../harness.ts";

test("a reader whose socket is full holds up nobody, and then gets the state in fewer frames", async () => {
  const { server, orcha } = await serverOf(memoryStore());
  const { session } = await orcha.supportAgent.restore([{ role: "user", content: "one" }]);
  const { sessionId } = session;
  const path = `/api/agents/supportAgent/sessions/${sessionId}/tail?after=0`;

  const socket = connect({ port: server.port, host: "127.0.0.1" });
  let heard = "";
  socket.on("data", (chunk) => (heard += chunk.toString()));
  socket.write(`GET ${path} HTTP/1.1\r\nhost: 127.0.0.1:${server.port}\r\naccept: text/event-stream\r\n\r\n`);
  await expect.poll(() => heard).toContain("event: ready");
  socket.pause();

  const writes = 300;
  let last = 0;
  const reading = (async () => {
    for await (const frame of orcha.supportAgent.tail(sessionId, { after: 2 })) {
      if (frame.type === "item") last = frame.position;
      if (last === writes) return;
    }
  })();
  // 60 kB each: more than the buffers of any socket take.
  const content = "x".repeat(60_000);
  for (let index = 0; index < writes; index += 1) await orcha.supportAgent.append(sessionId, { messages: [{ role: "user", content }] });
  await reading;

  heard = "";
  socket.resume();
  await expect.poll(() => heard.match(/event: item/g)?.length, { timeout: 10_000 }).toBe(writes);
  // Each item once, in order; of the snapshots only some.
  const positions = [...heard.matchAll(/"position":(\d+)/g)].map(([, position]) => Number(position));
  expect(positions).toEqual(Array.from({ length: writes }, (_, index) => index + 1));
  expect(heard.match(/event: snapshot/g)?.length).toBeLessThan(writes / 2);
  socket.destroy();
});
