import { connect, createServer, type AddressInfo, type Socket } from "node:net";
import { createSessions } from "@orcha/server";
import { expect, inject, onTestFinished, test, vi } from "vitest";
import { agents } from "../agents.ts";
import { postgresIn, temporarySchemas } from "../stores.ts";
import { call, name, ref, said } from "./postgres-bed.ts";

const schemas = temporarySchemas();

/** A way to the database on which the connections that carry news can fall silent, as behind a network that drops packets. */
async function quietableDatabase() {
  const news: Socket[] = [];
  let isQuiet = false;
  const open = new Set<Socket>();
  const { hostname, port } = new URL(inject("postgresUrl"));
  // Half open: a network that drops packets doesn't answer a goodbye either.
  const server = createServer({ allowHalfOpen: true }, (client) => {
    const upstream = connect(Number(port || 5432), hostname);
    for (const socket of [client, upstream]) {
      open.add(socket);
      socket.on("error", () => {});
      socket.on("close", () => {
        client.destroy();
        upstream.destroy();
      });
    }
    client.on("data", (chunk) => {
      // The first message of a connection says whose it is.
      if (chunk.includes("orcha news")) news.push(client);
      if (!isQuiet || !news.includes(client)) upstream.write(chunk);
    });
    upstream.on("data", (chunk) => {
      if (!isQuiet || !news.includes(client)) client.write(chunk);
    });
    client.on("end", () => {
      if (!isQuiet || !news.includes(client)) upstream.end();
    });
  });
  await new Promise<void>((resolve) => {
    server.listen(0, "127.0.0.1", resolve);
  });
  onTestFinished(() => {
    for (const socket of open) socket.destroy();
    server.close();
  });
  const url = new URL(inject("postgresUrl"));
  url.host = `127.0.0.1:${(server.address() as AddressInfo).port}`;
  return {
    url: url.href,
    /** How often somebody has connected for news. */
    connections: () => news.length,
    quiet: (quiet: boolean) => {
      isQuiet = quiet;
    },
  };
}

/** Two servers, of which the first hears and tells through the quietable way. */
async function given() {
  const schema = schemas();
  const way = await quietableDatabase();
  const here = await postgresIn(schema, { connectionString: way.url, statementTimeoutMs: 1000, connectTimeoutMs: 500 });
  const there = await postgresIn(schema);
  onTestFinished(() => there.close());
  const heard: unknown[] = [];
  onTestFinished(there.listen((changed) => heard.push(changed)));
  const { writing } = createSessions(agents, here);
  await writing.create(call, name);
  const write = () => writing.append(call, { ...name, events: [said("hi")] });
  // Both are connected, and the news gets through.
  await vi.waitFor(async () => {
    await write();
    expect(heard).toContainEqual(ref);
  }, 10_000);
  heard.length = 0;
  return { way, here, write, heard };
}

test("a way for news that falls silent ends neither the writes nor the store's own end, and nothing piles up", async () => {
  const warnings: Error[] = [];
  const warn = (warning: Error) => warnings.push(warning);
  process.on("warning", warn);
  onTestFinished(() => void process.off("warning", warn));
  const { way, here, write } = await given();
  way.quiet(true);
  for (let count = 0; count < 5; count += 1) {
    await write();
    await new Promise((resolve) => setTimeout(resolve, 15));
  }
  await write();
  await here.close();
  expect(warnings).toEqual([]);
});

test("a store that had nothing left to tell ends, though its way for news has fallen silent", async () => {
  const { way, here } = await given();
  await new Promise((resolve) => setTimeout(resolve, 100));
  way.quiet(true);
  await expect(here.close()).resolves.toBeUndefined();
});

test("a way for news that falls silent is opened anew, and what changed meanwhile is told", { timeout: 20_000 }, async () => {
  const { way, here, write, heard } = await given();
  onTestFinished(() => here.close());
  const before = way.connections();
  way.quiet(true);
  await write();
  await vi.waitFor(() => expect(way.connections()).toBeGreaterThan(before), 10_000);
  way.quiet(false);
  await vi.waitFor(async () => {
    await write();
    expect(heard).toContainEqual(ref);
  }, 10_000);
});
