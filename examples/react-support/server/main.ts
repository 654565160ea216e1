import { join } from "node:path";
import { parseArgs } from "node:util";
import { memoryStore } from "@orcha/server";
import { serve } from "@orcha/server/node";
import { build, createServer, preview, type ProxyOptions } from "vite";
import { agents } from "../src/agents.ts";
import { offlineModel } from "./model.ts";

// Starts Orcha, and beside it the app: as it is written, or with `--built` as it would be published.
const { values } = parseArgs({ options: { built: { type: "boolean" }, port: { type: "string", default: "5173" } } });

const server = await serve({
  agents,
  store: memoryStore(),
  port: 0,
  implementations: {
    supportAgent: {
      // Such as openai/gpt-5-mini, with the package @ai-sdk/openai and its key.
      model: process.env["ORCHA_MODEL"] ?? offlineModel,
      instructions: "You are a friendly support agent. Refunds above 100 USD need an approval.",
      actions: {
        lookup_order: ({ orderId }) => ({
          status: orderId === "A-1042" ? "lost by the carrier" : "in transit",
          total: 750,
          currency: "USD",
        }),
      },
    },
  },
});

// The page and the server have one address, so that neither cookies nor CORS need a thought.
const proxy: Record<string, ProxyOptions> = { "/rpc": { target: server.url, changeOrigin: true } };
const configFile = join(import.meta.dirname, "../vite.config.ts");
const options = { configFile, logLevel: "warn" } as const;
const listen = { proxy, port: Number(values.port), host: "127.0.0.1" };

if (values.built) await build(options);
const web = values.built ? await preview({ ...options, preview: listen }) : await (await createServer({ ...options, server: listen })).listen();
console.log(`Open ${web.resolvedUrls?.local[0] ?? "the app"}`);

for (const signal of ["SIGINT", "SIGTERM"] as const) {
  process.once(signal, () => {
    void Promise.all([server.close(), web.close()]).then(() => process.exit(0));
  });
}
