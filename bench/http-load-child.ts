import { connect, type Socket } from "node:net";

/*
 * Loads a server of this machine through a few kept connections, each of which asks again as soon as it was answered.
 * Sockets rather than node:http, whose client takes as much of a processor as the servers do.
 */

export interface Load {
  port: number;
  path: string;
  connections: number;
  /** How long, and how many requests at the most. */
  milliseconds: number;
  requests: number;
}

/** How many requests were answered, in how many milliseconds. */
export interface Loaded {
  requests: number;
  milliseconds: number;
}

process.on("message", (load) => {
  void run(load as Load).then((loaded) => process.send?.(loaded));
});
process.on("disconnect", () => process.exit());
process.send?.("ready");

async function run(load: Load): Promise<Loaded> {
  const sockets = await Promise.all(Array.from({ length: load.connections }, () => open(load.port)));
  const start = performance.now();
  const deadline = start + load.milliseconds;
  let sent = 0;
  let answered = 0;
  function next(): boolean {
    if (sent >= load.requests || performance.now() > deadline) return false;
    sent += 1;
    return true;
  }
  await Promise.all(sockets.map((socket) => askAgain(socket, load, next, () => (answered += 1))));
  return { requests: answered, milliseconds: performance.now() - start };
}

function open(port: number): Promise<Socket> {
  return new Promise((resolve, reject) => {
    const socket = connect({ port, host: "127.0.0.1", noDelay: true }, () => resolve(socket));
    socket.once("error", reject);
  });
}

function askAgain(socket: Socket, { port, path }: Load, next: () => boolean, count: () => void): Promise<void> {
  const request = `GET ${path} HTTP/1.1\r\nhost: 127.0.0.1:${port}\r\naccept: application/json\r\n\r\n`;
  return new Promise((resolve, reject) => {
    // Bytes of the answer that are still to come; -1 before its header is read.
    let rest = -1;
    let header = "";
    socket.on("data", (chunk) => {
      if (rest >= 0) rest -= chunk.byteLength;
      else {
        header += chunk.toString("latin1");
        const end = header.indexOf("\r\n\r\n");
        if (end < 0) return;
        const length = /\r\ncontent-length: (\d+)\r\n/i.exec(header)?.[1];
        if (!header.startsWith("HTTP/1.1 200 ") || length === undefined) return fail(header.slice(0, 500));
        rest = Number(length) - (header.length - end - 4);
        header = "";
      }
      if (rest > 0) return;
      rest = -1;
      count();
      if (next()) socket.write(request);
      else end(resolve);
    });
    socket.on("error", (error) => end(() => reject(error)));
    socket.on("close", () => fail("the server hung up"));
    if (next()) socket.write(request);
    else end(resolve);

    function fail(words: string): void {
      end(() => reject(new Error(words)));
    }

    function end(settle: () => void): void {
      socket.removeAllListeners("close");
      socket.destroy();
      settle();
    }
  });
}
