import { serve as listen } from "@hono/node-server";
import { serve } from "@orcha/server/node";
import { sqliteStore } from "@orcha/server/sqlite";
import Database from "better-sqlite3";
import { Hono } from "hono";
import { agents } from "./agents.ts";
import { newestTexts } from "./floor/page-of-orcha.ts";
import { pageSize } from "./side.ts";

/*
 * Serves one file over HTTP: as Orcha, or as the floor, which is one route on Hono that reads the same stored texts with
 * one prepared statement, joins them and sends them. Says its port, then how much processor time it took whenever it is asked.
 */

const [kind, file = ""] = process.argv.slice(2);
const port = await (kind === "orcha" ? openOrcha() : openFloor());
process.on("message", () => process.send?.(process.cpuUsage()));
process.on("disconnect", () => process.exit());
process.send?.(port);

async function openOrcha(): Promise<number> {
  return (await serve({ agents, store: await sqliteStore({ file }), port: 0 })).port;
}

function openFloor(): Promise<number> {
  const page = new Database(file, { readonly: true })
    .prepare<[string, number], string>(newestTexts)
    .pluck();
  const app = new Hono();
  app.get("/history/:session", (context) => {
    const texts = page.all(context.req.param("session"), pageSize).toReversed();
    return context.body(`{"items":[${texts.join(",")}]}`, 200, { "content-type": "application/json" });
  });
  return new Promise((resolve) => listen({ fetch: app.fetch, port: 0, hostname: "127.0.0.1" }, (info) => resolve(info.port)));
}
