import { connect } from "node:net";
import { scriptedModel, type ScriptedModel } from "@orcha/agent/testing";
import { createOrcha } from "@orcha/client";
import { memoryStore } from "@orcha/server";
import { expect, test } from "vitest";
import type { agents } from "../agents.ts";
import { appOf, serverOf } from "../harness.ts";
import { bedOf } from "../runs/bed.ts";

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
  await expect.poll(() => heard.match(/event: item/g)?.length).toBe(writes);
  // Each item once, in order; of the snapshots only some.
  const positions = [...heard.matchAll(/"position":(\d+)/g)].map(([, position]) => Number(position));
  expect(positions).toEqual(Array.from({ length: writes }, (_, index) => index + 1));
  expect(heard.match(/event: snapshot/g)?.length).toBeLessThan(writes / 2);
  socket.destroy();
});

test("a reader that leaves while its socket is full is forgotten", async () => {
  const store = memoryStore();
  let listening = 0;
  const listen = store.listen.bind(store);
  store.listen = (call) => {
    const leave = listen(call);
    listening += 1;
    return () => {
      listening -= 1;
      leave();
    };
  };
  const { app } = appOf(store);
  const orcha = createOrcha<typeof agents>({ baseUrl: "http://orcha.test", fetch: async (input, init) => app.fetch(new Request(input, init)) });
  const { session } = await orcha.supportAgent.restore([{ role: "user", content: "one" }]);
  const response = await app.request(`/api/agents/supportAgent/sessions/${session.sessionId}/tail?after=0`, { headers: { accept: "text/event-stream" } });
  // Nothing is read, so that what is told first takes all the room there is.
  await expect.poll(() => listening).toBe(1);
  await response.body?.cancel();
  await expect.poll(() => listening).toBe(0);
});

test("a slow reader is told of the text that was shown while it took what came before", async () => {
  const words = "One, two, three, four";
  const { service, orcha } = bedOf(memoryStore(), { implementations: { researcher: { model: unending(words), instructions: "You count." } } });
  const run = orcha.researcher.run("Count");
  const { sessionId } = run;
  await expect.poll(async () => (await orcha.researcher.get.safe(sessionId)).data?.runStatus).toBe("running");
  const response = await service.app.request(`/api/agents/researcher/sessions/${sessionId}/tail?after=0`, { headers: { accept: "text/event-stream" } });
  const body = response.body?.getReader();
  const read = async (): Promise<string> => {
    const chunk = await body?.read();
    return [...new TextDecoder().decode(chunk?.value).matchAll(/"offset":\d+,"text":"([^"]*)"/g)].map(([, piece]) => piece).join("");
  };
  let text = "";
  while (text === "") text += await read();
  await expect.poll(() => run.snapshot).toMatchObject({ output: words });
  const start = performance.now();
  while (text.length < words.length) text += await read();
  // Those who aren't told look by themselves each five seconds.
  expect(performance.now() - start).toBeLessThan(4000);
  await body?.cancel();
  await service.drain(0);
});

/** A model that says a text in pieces, and never ends. */
function unending(text: string): ScriptedModel {
  const model = scriptedModel([{ text, chunkSize: 5, delayMs: 40 }]);
  return {
    ...model,
    async doStream(request) {
      const { stream, ...answer } = await model.doStream(request);
      const reader = stream.getReader();
      const endless: typeof stream = new ReadableStream({
        async pull(sink) {
          const { value } = await reader.read();
          return !value || value.type === "text-end" ? new Promise(() => {}) : sink.enqueue(value);
        },
      });
      return { ...answer, stream: endless };
    },
  };
}
