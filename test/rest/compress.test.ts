import { once } from "node:events";
import { request, type IncomingMessage } from "node:http";
import { buffer } from "node:stream/consumers";
import { gunzipSync } from "node:zlib";
import { createApp, memoryStore, type AppOptions } from "@orcha/server";
import { serve } from "@orcha/server/node";
import { describe, expect, onTestFinished, test } from "vitest";
import { agents } from "../agents.ts";
import { bothOf } from "./rest.ts";

const session = "/api/agents/supportAgent/sessions/long";
const rpcPage = `/rpc/history?data=${encodeURIComponent(JSON.stringify({ json: { agent: "supportAgent", sessionId: "long" } }))}`;
const rpcList = `/rpc/list?data=${encodeURIComponent(JSON.stringify({ json: { agent: "supportAgent" } }))}`;
const gzip = { "accept-encoding": "gzip, deflate" };

/** An app with one session that fills a page, and one answer that is short. */
async function seeded(options: Partial<AppOptions> = { compress: true }, turns = 30) {
  const store = memoryStore();
  const messages = Array.from({ length: turns }, (_, index) => ({ role: "user", content: `Where is order ${index}? 日本` }));
  await bothOf(store).rpc("restore", { agent: "supportAgent", sessionId: "long", metadata: { text: "x".repeat(1200) }, messages });
  return { store, app: createApp({ agents, store, ...options }) };
}

async function textOf(response: Response): Promise<string> {
  const bytes = new Uint8Array(await response.arrayBuffer());
  return (response.headers.get("content-encoding") === "gzip" ? gunzipSync(bytes) : Buffer.from(bytes)).toString();
}

const compressed = [session, `${session}/history`, `${session}/events`, `${session}/messages`, "/api/agents", "/api/openapi.json", "/api/docs", rpcPage, rpcList];

test.each(compressed)("%s is the same when it is compressed", async (path) => {
  const { app } = await seeded();
  const plain = await app.request(path);
  const packed = await app.request(path, { headers: gzip });
  expect([plain.status, plain.headers.get("content-encoding"), plain.headers.get("vary")]).toEqual([200, null, "accept-encoding"]);
  expect([packed.status, packed.headers.get("content-encoding"), packed.headers.get("vary")]).toEqual([200, "gzip", "accept-encoding"]);
  expect(packed.headers.get("content-type")).toBe(plain.headers.get("content-type"));
  expect(packed.headers.get("orcha-version")).toBe("1");
  expect(await textOf(packed)).toBe(await plain.text());
});

test("a long text is compressed too, where a thread does it", async () => {
  const { store } = await seeded({}, 1000);
  const server = await serve({ agents, store, port: 0, compress: true });
  onTestFinished(() => server.close());
  const response = await get(server.port, `${session}/messages`, gzip);
  expect(JSON.parse(gunzipSync(response.bytes).toString())).toHaveLength(1000);
});

test.each(["gzip", "x-gzip", "GZIP;q=0.5", "br, gzip", "*", "identity;q=0, *;q=0.1", "deflate , gzip ; q=1.0"])("%j takes it", async (accept) => {
  const { app } = await seeded();
  expect((await app.request(session, { headers: { "accept-encoding": accept } })).headers.get("content-encoding")).toBe("gzip");
});

test.each(["", "identity", "br", "gzip;q=0", "gzip; q=0.000", "*;q=0", "gzip;q=0, *", "gzipped"])("%j doesn't", async (accept) => {
  const { app } = await seeded();
  expect((await app.request(session, { headers: { "accept-encoding": accept } })).headers.get("content-encoding")).toBeNull();
});

test("what is short, empty or no text stays as it is", async () => {
  const { app } = await seeded();
  for (const path of ["/healthz", "/api/agents/supportAgent/sessions?pageSize=1&status=completed", `${session}/nothing`, "/rpc/nothing", "/api/docs.css"]) {
    expect((await app.request(path, { headers: gzip })).headers.get("content-encoding"), `of ${path}`).toBeNull();
  }
  const gone = await app.request(session, { method: "DELETE", headers: gzip });
  expect([gone.status, gone.headers.get("content-encoding"), await gone.text()]).toEqual([204, null, ""]);
});

test("HEAD answers the headers of GET", async () => {
  const { app } = await seeded();
  const head = await app.request(session, { method: "HEAD", headers: gzip });
  const got = await app.request(session, { headers: { ...gzip, "x-request-id": head.headers.get("x-request-id") ?? "" } });
  expect(Object.fromEntries(head.headers)).toEqual(Object.fromEntries(got.headers));
  expect(await head.text()).toBe("");
});

test("Vary names both, where pages of other origins may call", async () => {
  const { app } = await seeded({ compress: true, cors: { origins: ["https://app.example"] } });
  for (const path of [session, rpcPage, rpcList]) {
    const { headers } = await app.request(path, { headers: { ...gzip, origin: "https://app.example" } });
    expect(headers.get("vary"), `of ${path}`).toBe("accept-encoding, Origin");
    expect(headers.get("content-encoding")).toBe("gzip");
    expect(headers.get("access-control-allow-origin")).toBe("https://app.example");
  }
});

test("a compressed answer has a tag of its own, which goes back as the other one does", async () => {
  const { app } = await seeded();
  const { headers } = await app.request(session, { headers: gzip });
  const etag = headers.get("etag") ?? "";
  expect(etag).toBe('"31-gzip"');
  expect((await app.request(session)).headers.get("etag")).toBe('"31"');
  for (const known of [etag, '"31"', 'W/"31"', '"30", W/"31-gzip"', "*"]) {
    const same = await app.request(session, { headers: { ...gzip, "if-none-match": known } });
    expect([same.status, await same.text(), same.headers.get("vary"), same.headers.get("content-type")], `to ${known}`).toEqual([304, "", "accept-encoding", null]);
  }
  const json = { "content-type": "application/json" };
  const patch = await app.request(session, { method: "PATCH", headers: { ...json, "if-match": etag }, body: '{"name":"n"}' });
  expect([patch.status, patch.headers.get("etag")]).toEqual([200, '"32"']);
  expect((await app.request(session, { headers: { "if-none-match": etag } })).status).toBe(200);
});

describe("by default", () => {
  test("an app without a socket compresses nothing", async () => {
    const { app } = await seeded({});
    const { headers } = await app.request(session, { headers: gzip });
    expect([headers.get("content-encoding"), headers.get("vary"), headers.get("etag")]).toEqual([null, null, '"31"']);
  });

  test("a server compresses what leaves the private network, also by a proxy of it", async () => {
    const { store } = await seeded();
    const server = await serve({ agents, store, port: 0 });
    onTestFinished(() => server.close());
    const near = await get(server.port, `${session}/history`, gzip);
    expect([near.headers["content-encoding"], near.headers["vary"]]).toEqual([undefined, undefined]);
    const far = await get(server.port, `${session}/history`, { ...gzip, "x-forwarded-for": "203.0.113.7" });
    expect([far.headers["content-encoding"], far.headers["content-length"]]).toEqual(["gzip", String(far.bytes.length)]);
    expect(gunzipSync(far.bytes).toString()).toBe(near.bytes.toString());
    expect(far.bytes.length).toBeLessThan(near.bytes.length / 4);
  });

  test("and a server can be told to compress always, or never", async () => {
    for (const compress of [true, false]) {
      const { store } = await seeded();
      const server = await serve({ agents, store, port: 0, compress });
      onTestFinished(() => server.close());
      const { headers } = await get(server.port, rpcPage, { ...gzip, "x-forwarded-for": "203.0.113.7" });
      expect(headers["content-encoding"]).toBe(compress ? "gzip" : undefined);
    }
  });
});

/** As it comes over the wire: `fetch` would undo the compression. */
async function get(port: number, path: string, headers: Record<string, string>): Promise<Pick<IncomingMessage, "headers"> & { bytes: Buffer }> {
  const sent = request({ port, path, headers, host: "127.0.0.1" }).end();
  const [response] = (await once(sent, "response")) as [IncomingMessage];
  return { headers: response.headers, bytes: await buffer(response) };
}
