import { request } from "node:http";
import { connect, type Socket } from "node:net";

/*
 * Listens to a server's sessions through many sockets, and writes into the sessions; a marker in each message tells when
 * it arrives, and where.
 */

/** What to listen to, or what to write. */
export type TailsLoad =
  | { do: "listen"; port: number; paths: string[] }
  /** One write after the other, so many milliseconds apart; `body` has `MARKER` where the marker goes. */
  | { do: "write"; port: number; writes: { path: string; body: string; readers: number }[]; everyMs: number };

/** How long each delivery took, in milliseconds. */
export interface Delivered {
  lags: number[];
}

const sockets: Socket[] = [];
const sent = new Map<string, { at: number; left: number }>();
let lags: number[] = [];

process.on("message", (load) => {
  void run(load as TailsLoad).then((answer) => process.send?.(answer));
});
process.on("disconnect", () => process.exit());
process.send?.("ready");

async function run(load: TailsLoad): Promise<object> {
  if (load.do === "listen") {
    for (const path of load.paths) sockets.push(await listen(load.port, path));
    return {};
  }
  lags = [];
  for (const [index, { path, body, readers }] of load.writes.entries()) {
    const marker = `mark-${String(index).padStart(6, "0")}-${Math.random().toString(36).slice(2, 8).padEnd(6, "0")}`;
    sent.set(marker, { at: performance.now(), left: readers });
    await post(load.port, path, body.replace("MARKER", marker));
    await new Promise((resolve) => setTimeout(resolve, load.everyMs));
  }
  const deadline = performance.now() + 10_000;
  while ([...sent.values()].some(({ left }) => left > 0) && performance.now() < deadline) await new Promise((resolve) => setTimeout(resolve, 20));
  const missing = [...sent.values()].reduce((sum, { left }) => sum + left, 0);
  if (missing > 0) throw new Error(`${missing} deliveries are missing`);
  sent.clear();
  return { lags } satisfies Delivered;
}

function listen(port: number, path: string): Promise<Socket> {
  return new Promise((resolve, reject) => {
    const socket = connect({ port, host: "127.0.0.1", noDelay: true });
    let rest = "";
    socket.once("error", reject);
    socket.once("data", () => resolve(socket));
    socket.on("data", (chunk) => {
      rest += chunk.toString("latin1");
      for (const [marker] of rest.matchAll(/mark-\d{6}-[a-z0-9]{6}/g)) arrive(marker, socket);
      rest = rest.slice(-24);
    });
    socket.write(`GET ${path} HTTP/1.1\r\nhost: 127.0.0.1:${port}\r\naccept: text/event-stream\r\n\r\n`);
  });
}

/** An item comes once to each reader; the snapshot behind it may hold the text again. */
const seen = new WeakMap<Socket, string>();

function arrive(marker: string, socket: Socket): void {
  if (seen.get(socket) === marker) return;
  seen.set(socket, marker);
  const write = sent.get(marker);
  if (!write) return;
  write.left -= 1;
  lags.push(performance.now() - write.at);
}

function post(port: number, path: string, body: string): Promise<void> {
  return new Promise((resolve, reject) => {
    const sending = request({ port, host: "127.0.0.1", path, method: "POST", headers: { "content-type": "application/json" } }, (response) => {
      let text = "";
      response.on("data", (chunk: Buffer) => (text += chunk.toString()));
      response.on("end", () => (response.statusCode === 200 ? resolve() : reject(new Error(text))));
    });
    sending.on("error", reject);
    sending.end(body);
  });
}
