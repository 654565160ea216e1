import { createServer } from "node:http";
import { onTestFinished } from "vitest";

/** Starts a server that answers everything the same, until the test ends. */
export async function answering(status: number, body: string): Promise<string> {
  const server = createServer((_request, response) => response.writeHead(status, { location: "/elsewhere" }).end(body));
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => void server.close());
  const address = server.address();
  return `http://127.0.0.1:${typeof address === "object" && address ? address.port : 0}`;
}
