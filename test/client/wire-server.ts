import { createServer, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { buffer } from "node:stream/consumers";

/** A request as the server got it. */
export interface WireRequest {
  method: string;
  path: string;
  headers: Record<string, string | undefined>;
  /** The body; of a read, what stands in the address in its place. */
  text: string;
  /** What stands under `json` in it. */
  input: Record<string, unknown>;
}

/** What to do with a request. */
export type Reply = (response: ServerResponse, request: WireRequest) => void;

/** A server that speaks the wire's envelope and nothing else: it answers with what each test tells it to. */
export interface WireServer {
  baseUrl: string;
  requests: WireRequest[];
  /** Answers the next requests in this order; the last reply stays. */
  replyWith: (...replies: Reply[]) => void;
  close: () => Promise<void>;
}

export async function startWireServer(): Promise<WireServer> {
  const requests: WireRequest[] = [];
  let replies: Reply[] = [];
  const server = createServer((incoming, response) => {
    // A request that was cut short has nobody left to answer.
    void buffer(incoming).then(
      (body) => {
        const { pathname, searchParams } = new URL(incoming.url ?? "", "http://orcha.test");
        const text = searchParams.get("data") ?? body.toString();
        const request: WireRequest = {
          method: incoming.method ?? "",
          path: pathname,
          headers: incoming.headers as Record<string, string>,
          text,
          input: readInput(text),
        };
        requests.push(request);
        const reply = replies.length > 1 ? replies.shift() : replies[0];
        reply?.(response, request);
        return undefined;
      },
      () => undefined,
    );
  });
  await new Promise<void>((resolve) => {
    server.listen(0, "127.0.0.1", resolve);
  });
  return {
    baseUrl: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    requests,
    replyWith(...next) {
      requests.length = 0;
      replies = next;
    },
    async close() {
      server.closeAllConnections();
      await new Promise((resolve) => {
        server.close(resolve);
      });
    },
  };
}

function readInput(text: string): Record<string, unknown> {
  return text === "" ? {} : (JSON.parse(text) as { json: Record<string, unknown> }).json;
}

/** Answers with the envelope of a success. */
export function success(json: unknown): Reply {
  return raw(200, JSON.stringify({ json }));
}

/** Answers with the envelope of an error. */
export function failure(
  status: number,
  code: string,
  data: { retryable?: boolean; details?: object } = {},
  headers: Record<string, string> = {},
): Reply {
  const body = { json: { defined: true, code, status, message: `because of ${code}`, data: { retryable: false, ...data } } };
  return raw(status, JSON.stringify(body), headers);
}

/** Answers with anything. */
export function raw(status: number, body: string, headers: Record<string, string> = {}): Reply {
  return (response) => {
    response.writeHead(status, { "content-type": "application/json", ...headers });
    response.end(body);
  };
}

/** Cuts the connection without an answer. */
export const drop: Reply = (response) => response.socket?.destroy();

/** Cuts the connection in the middle of an answer. */
export const breakOff: Reply = (response) => {
  response.writeHead(200, { "content-type": "application/json", "content-length": "1000" });
  response.write('{"json":{');
  setTimeout(() => response.socket?.destroy(), 5);
};

/** Never answers. */
export const hang: Reply = () => undefined;

export const snapshot = {
  sessionId: "ses_1",
  agent: "supportAgent",
  status: "active",
  metadata: {},
  createdAt: "2026-09-28T12:00:00.000Z",
  updatedAt: "2026-09-28T12:00:09.000Z",
  pendingClientActions: [],
  sequence: 7,
};

/** A history page with the given items. */
export function historyOf(items: object[], page: object = {}): object {
  return { ...snapshot, items, page: 1, pageSize: 50, total: items.length, hasMore: false, throughSequence: 7, ...page };
}
