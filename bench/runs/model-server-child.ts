import { createServer, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import { pieces, tempos, type TempoName } from "./tempo.ts";

/*
 * A model server that speaks as much of OpenAI's Chat API as a stream of text takes: the model's name is its tempo. Says its
 * port once it listens.
 */

const server = createServer((request, response) => {
  let body = "";
  request.setEncoding("utf8").on("data", (text: string) => (body += text));
  request.on("end", () => void answer(body, response));
});
server.listen(0, "127.0.0.1", () => process.send?.((server.address() as AddressInfo).port));
process.on("disconnect", () => process.exit());

async function answer(body: string, response: ServerResponse): Promise<void> {
  const { model } = JSON.parse(body) as { model: TempoName };
  const { firstMs, eachMs } = tempos[model];
  const chunk = (choices: object[], more: object = {}): string =>
    `data: ${JSON.stringify({ id: "chatcmpl-1", object: "chat.completion.chunk", created: 1, model, choices, ...more })}\n\n`;
  const piece = (index: number): string => chunk([{ index: 0, delta: { role: "assistant", content: `It is piece ${index} of it. ` }, finish_reason: null }]);
  await sleep(firstMs);
  response.writeHead(200, { "content-type": "text/event-stream" });
  for (let index = 0; index < pieces; index += 1) {
    if (index > 0 && eachMs > 0) await sleep(eachMs);
    response.write(piece(index));
  }
  const usage = { prompt_tokens: 30, completion_tokens: 120, total_tokens: 150 };
  response.end(`${chunk([{ index: 0, delta: {}, finish_reason: "stop" }])}${chunk([], { usage })}data: [DONE]\n\n`);
}
