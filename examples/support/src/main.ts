import { mkdirSync } from "node:fs";
import { createInterface } from "node:readline/promises";
import { parseArgs } from "node:util";
import { createOrcha } from "@orcha/client";
import { serve, type OrchaServer } from "@orcha/server/node";
import { sqliteStore } from "@orcha/server/sqlite";
import { agents } from "./agents.ts";
import { asksForApproval, goesOn, saved } from "./conversation.ts";
import { renderHistory } from "./render.ts";

const folder = ".orcha";
const file = `${folder}/orcha.db`;

// `--once` (npm run demo) answers by itself and ends; without it the server keeps serving until Ctrl-C.
const { once = false, port } = parseArgs({ options: { once: { type: "boolean" }, port: { type: "string" } } }).values;

const stop = new AbortController();
for (const signal of ["SIGINT", "SIGTERM"] as const) process.once(signal, () => stop.abort());

await main();

async function main(): Promise<void> {
  const server = await start();
  console.log(`Orcha serves at ${server.url}, sessions are in ${file}.`);
  console.log("No token is set, so only this machine may call.\n");
  try {
    await showConversation(server);
    if (!once) {
      console.log(lookFurther(server));
      await stopped();
      console.log("\nClosing.");
    }
  } catch (error) {
    if (!stop.signal.aborted) throw error;
  } finally {
    await server.close();
  }
}

async function start(): Promise<OrchaServer> {
  mkdirSync(folder, { recursive: true });
  const store = await sqliteStore({ file });
  // The demo takes any port, so that it runs beside `npm start`.
  const wanted = Number(port ?? (once ? 0 : 4310));
  try {
    return await serve({ agents, store, port: wanted });
  } catch (error) {
    await store.close();
    if (error instanceof Error && "code" in error && error.code === "EADDRINUSE") {
      console.error(`Port ${wanted} is taken. Another one: npm start -- --port 4311`);
      process.exit(1);
    }
    throw error;
  }
}

async function showConversation(server: OrchaServer): Promise<void> {
  const { signal } = stop;
  const orcha = createOrcha<typeof agents>({ baseUrl: server.url });

  const { session } = await orcha.supportAgent.restore(saved, { name: "Order A-1042", signal });
  const { sessionId } = session;
  await orcha.supportAgent.append(sessionId, { events: asksForApproval }, { signal });

  const history = await orcha.supportAgent.history(sessionId, { page: 1, pageSize: 25, signal });
  console.log(`${renderHistory(history)}\n`);

  for (const call of history.pendingClientActions) {
    if (call.name !== "request_human_approval") continue;
    const { amount, currency } = call.arguments;
    const approved = await ask(`Approve a refund of ${amount} ${currency}?`);
    if (approved === undefined) continue;
    const { result } = orcha.supportAgent.resume(sessionId, {
      toolResults: [{ callId: call.callId, output: { approved } }],
    });
    await result;
    await orcha.supportAgent.append(sessionId, { events: goesOn(approved) }, { signal });
    console.log(`\n${renderHistory(await orcha.supportAgent.history(sessionId, { pageSize: 25, signal }))}\n`);
  }
}

/** Asks on a terminal; elsewhere the question stays open, except in the demo, which approves. */
async function ask(question: string): Promise<boolean | undefined> {
  if (once) {
    console.log(`${question} yes`);
    return true;
  }
  if (!process.stdin.isTTY) {
    console.log(`${question} The approval waits: start this in a terminal to answer it.`);
    return undefined;
  }
  const terminal = createInterface({ input: process.stdin, output: process.stdout });
  // readline takes Ctrl-C for itself while it asks.
  terminal.once("SIGINT", () => stop.abort());
  try {
    const answer = await terminal.question(`${question} [y/n] `, { signal: stop.signal });
    return /^y(es)?$/i.test(answer.trim());
  } finally {
    terminal.close();
  }
}

function lookFurther({ url }: OrchaServer): string {
  return [
    "Look further:",
    `  the newest sessions   curl '${url}/rpc/list?data=%7B"json":%7B"agent":"supportAgent"%7D%7D'`,
    "  the calls             README.md, docs/history.md",
    "  this program          examples/support/src/main.ts",
    "Ctrl-C ends the server.",
  ].join("\n");
}

function stopped(): Promise<void> {
  return new Promise((resolve) => {
    if (stop.signal.aborted) resolve();
    else stop.signal.addEventListener("abort", () => resolve(), { once: true });
  });
}
