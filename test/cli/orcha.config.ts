import { defineConfig } from "@orcha/server/config";
import { agents } from "../agents.ts";

const { TEST_DATABASE: database, TEST_SCHEMA: schema = "orcha" } = process.env;

export default defineConfig({
  agents,
  store: database === undefined ? { file: "orcha.db" } : { database, schema },
  tokens: [
    { token: "a-token-of-the-tests", tenant: "default", scopes: ["read", "log", "write"] },
    { token: "an-admin-of-the-tests", tenant: "default", scopes: ["read", "log", "write", "admin"] },
  ],
  cors: { origins: ["https://app.example.com"] },
  port: 0,
});
