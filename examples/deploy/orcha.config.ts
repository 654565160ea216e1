import { defineConfig } from "@orcha/server/config";
import { agents } from "./agents.ts";

const { DATABASE_URL, ORCHA_FILE = "orcha.db", ORCHA_TENANT = "default", ORCHA_TOKEN_SHA256 } = process.env;
if (!ORCHA_TOKEN_SHA256) throw new Error("ORCHA_TOKEN_SHA256 must hold the SHA-256 of the token that callers send");

export default defineConfig({
  agents,
  store: DATABASE_URL ? { database: DATABASE_URL } : { file: ORCHA_FILE },
  tokens: [{ sha256: ORCHA_TOKEN_SHA256, tenant: ORCHA_TENANT, subject: "app", scopes: ["read", "log", "resolve", "write"] }],
  hostname: "0.0.0.0",
});
