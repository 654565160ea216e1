import { serve } from "@orcha/server/node";
import { sqliteStore } from "@orcha/server/sqlite";
import { modelAt } from "./model-at.ts";
import { agents, instructions } from "./tempo.ts";

/*
 * Runs agents on one file, as Orcha's server. Says its port once it listens, and then, whenever it is asked, the most memory
 * that it held since it was asked last, in bytes.
 */

const [file = "", modelPort, synchronous] = process.argv.slice(2);
const model = (tempo: keyof typeof agents) => ({ model: modelAt(Number(modelPort), tempo), instructions });
const { port } = await serve({
  agents,
  store: await sqliteStore({ file, synchronous: synchronous === "NORMAL" ? "NORMAL" : "FULL" }),
  port: 0,
  implementations: { quick: model("quick"), usual: model("usual"), talking: model("talking") },
});
let most = 0;
setInterval(() => (most = Math.max(most, process.memoryUsage.rss())), 10);
process.on("message", () => {
  process.send?.(Math.max(most, process.memoryUsage.rss()));
  most = 0;
});
process.on("disconnect", () => process.exit());
process.send?.(port);
