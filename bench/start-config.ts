import { defineConfig } from "@orcha/server/config";
import { agents } from "./agents.ts";

// What `orcha serve` is started with.
export default defineConfig({ agents });
