import { spawnSync } from "node:child_process";
import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { createClient } from "@hey-api/openapi-ts";
import { memoryStore } from "@orcha/server";
import { serve } from "@orcha/server/node";
import { afterAll, expect, onTestFinished, test } from "vitest";
import { agents } from "../agents.ts";
import { bothOf } from "./rest.ts";
import { seed } from "./cases.ts";

const root = join(import.meta.dirname, "../..");
// Inside the test package, so that it is compiled and run as an app's own code would be.
const folder = join(import.meta.dirname, ".generated");

afterAll(() => rmSync(folder, { recursive: true, force: true }));

const program = `
import { createClient } from "./api/client/index.js";
import { history_ as history, create, list, update, append } from "./api/sdk.gen.js";
import type { HistoryItem } from "./api/types.gen.js";

const client = createClient({ baseUrl: process.argv[2] + "/api", auth: () => "a-token-of-this-test" });
const path = { agent: "supportAgent", sessionId: "ses_1" };

function line(item: HistoryItem): string {
  switch (item.type) {
    case "message":
      return item.role + ": " + item.content.map((part) => (part.type === "text" ? part.text : part.type)).join(" ");
    case "client_action":
      return item.name + " " + item.callId + " " + item.status;
    default:
      return item.type;
  }
}

const page = await history({ client, path, query: { page: 1, pageSize: 5 } });
if (page.data === undefined) throw new Error(page.error.code);
for (const item of page.data.items) console.log(line(item));
console.log(page.data.sequence, page.data.hasMore, page.response?.headers.get("etag"));

const missing = await history({ client, path: { ...path, sessionId: "nowhere" } });
if (missing.error === undefined) throw new Error("no error");
const code: "session_not_found" | "agent_not_found" | string = missing.error.code;
console.log(missing.response?.status, code, missing.error.retryable);
// @ts-expect-error a code that isn't in the table
if (missing.error.code === "nonsense") throw new Error();

const made = await create({ client, path: { agent: "supportAgent" }, body: { name: "New" } });
console.log(made.response?.status, made.error);
const stale = await update({ client, path, headers: { "If-Match": '"1"' }, body: { name: "n" } });
console.log(stale.error?.code);
const told = await append({ client, path, headers: { "Idempotency-Key": "k" }, body: { messages: [{ role: "user", content: "Hi" }] } });
console.log(told.data?.firstSequence);
const found = await list({ client, path: { agent: "supportAgent" }, query: { metadata: JSON.stringify({ tier: "paid" }) } });
console.log(found.data?.items.map(({ sessionId }) => sessionId).join());
`;

test("a client generated from the document compiles, reads a page, and gets a typed error", { timeout: 120_000 }, async () => {
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  const store = memoryStore();
  const { rpc, send } = bothOf(store);
  await seed(rpc);
  const input = join(folder, "openapi.json");
  writeFileSync(input, (await send("/api/openapi.json")).text);
  const logs = { level: "silent" as const };
  await createClient({ input, output: { path: join(folder, "api"), module: { extension: ".js" } }, logs, plugins: ["@hey-api/client-fetch", "@hey-api/typescript", "@hey-api/sdk"] });
  writeFileSync(join(folder, "program.ts"), program);
  writeFileSync(join(folder, "package.json"), '{"type":"module"}');
  const compilerOptions = {
    target: "es2022", lib: ["es2022", "dom", "dom.iterable"], module: "nodenext", moduleResolution: "nodenext",
    strict: true, noUncheckedIndexedAccess: true, skipLibCheck: true, types: ["node"], outDir: "built",
  };
  writeFileSync(join(folder, "tsconfig.json"), JSON.stringify({ compilerOptions, include: ["api", "program.ts"] }));
  const compiled = spawnSync(join(root, "node_modules/.bin/tsc"), ["-p", folder], { encoding: "utf8" });
  expect(compiled.stdout + compiled.stderr).toBe("");

  const token = "a-token-of-this-test";
  const { bearerTokens } = await import("@orcha/server");
  const auth = bearerTokens([{ token, tenant: "default", scopes: ["read", "write"] }]);
  const server = await serve({ agents, store, auth, port: 0 });
  onTestFinished(() => server.close());
  const { spawn } = await import("node:child_process");
  const child = spawn(process.execPath, [join(folder, "built/program.js"), server.url]);
  let output = "";
  for (const stream of [child.stdout, child.stderr]) stream.on("data", (chunk: Buffer) => (output += chunk.toString()));
  await new Promise((resolve) => child.on("close", resolve));
  expect(output.trim().split("\n")).toEqual([
    "action",
    "skill",
    "subagent",
    "evaluation",
    "request_human_approval c2 waiting",
    '12 true "12"',
    "404 session_not_found false",
    "201 undefined",
    "sequence_conflict",
    "13",
    "ses_1",
  ]);
});
