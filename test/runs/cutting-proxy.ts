import { connect, createServer, type AddressInfo, type Socket } from "node:net";
import { onTestFinished } from "vitest";

/** A way to a server over real sockets, of which the first is cut. */
export interface CuttingProxy {
  url: string;
  /** How many bytes of answers came through. */
  bytes: () => number;
  connections: () => number;
}

/** Stands before a server, and cuts the first connection after so many bytes of its answers. */
export async function proxyCuttingAt(position: number, port: number): Promise<CuttingProxy> {
  let bytes = 0;
  let connections = 0;
  const open = new Set<Socket>();
  const server = createServer((client) => {
    connections += 1;
    const isFirst = connections === 1;
    const upstream = connect(port, "127.0.0.1");
    for (const socket of [client, upstream]) {
      open.add(socket);
      socket.on("error", () => {});
      socket.on("close", () => {
        client.destroy();
        upstream.destroy();
      });
    }
    client.on("data", (chunk) => upstream.write(chunk));
    upstream.on("data", (chunk) => {
      const rest = isFirst ? position - bytes : Infinity;
      bytes += chunk.byteLength;
      client.write(chunk.subarray(0, rest));
      if (chunk.byteLength >= rest) client.destroySoon();
    });
  });
  await new Promise<void>((resolve) => {
    server.listen(0, "127.0.0.1", resolve);
  });
  onTestFinished(() => {
    for (const socket of open) socket.destroy();
    server.close();
  });
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, bytes: () => bytes, connections: () => connections };
}
