import type { ServerResponse } from "node:http";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { serve } from "@orcha/server/node";
import { sqliteStore } from "@orcha/server/sqlite";
import { agents } from "./agents.ts";

/*
 * Serves tails: as Orcha on a file, or as the floor, which is one bare route of events and one that writes what it is sent
 * to everybody who listens there. Says its port, then what it took of processor and memory whenever it is asked.
 */

const [kind, file = ""] = process.argv.slice(2);
const port = await (kind === "orcha" ? openOrcha() : openFloor());
process.on("message", () => process.send?.({ cpu: process.cpuUsage(), rss: process.memoryUsage().rss }));
process.on("disconnect", () => process.exit());
process.send?.(port);

async function openOrcha(): Promise<number> {
  return (await serve({ agents, store: await sqliteStore({ file, synchronous: "NORMAL" }), port: 0 })).port;
}

function openFloor(): Promise<number> {
  const listening = new Map<string, Set<ServerResponse>>();
  const server = createServer((request, response) => {
    const session = request.url ?? "";
    const listeners = listening.get(session) ?? new Set();
    listening.set(session, listeners);
    if (request.method === "GET") {
      response.writeHead(200, { "content-type": "text/event-stream", "cache-control": "no-cache" });
      response.write(": open\n\n");
      listeners.add(response);
      response.on("close", () => listeners.delete(response));
      return;
    }
    const chunks: Buffer[] = [];
    request.on("data", (chunk: Buffer) => chunks.push(chunk));
    request.on("end", () => {
      const text = `event: item\ndata: ${Buffer.concat(chunks).toString()}\n\n`;
      for (const listener of listeners) listener.write(text);
      response.end("{}");
    });
  });
  return new Promise((resolve) => {
    server.listen(0, "127.0.0.1", () => resolve((server.address() as AddressInfo).port));
  });
}
