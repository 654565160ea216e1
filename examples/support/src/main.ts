import { mkdirSync } from "node:fs";
import { createInterface } from "node:readline/promises";
import { parseArgs } from "node:util";
import { createOrcha } from "@orcha/client";
import { serve, type OrchaServer } from "@orcha/server/node";
import { sqliteStore } from "@orcha/server/sqlite";
import { agents } from "./agents.ts";
import { chooseModel } from "./choose-model.ts";
import { converse, type Decide } from "./conversation.ts";
import { implementationsOn } from "./implementations.ts";
import { renderHistory } from "./render.ts";

const folder = ".orcha";
const file = `${folder}/orcha.db`;

// `--once` (npm run demo) answers by itself and ends; without it the server keeps serving until Ctrl-C.
const { once, wanted } = readFlags();

const stop = new AbortController();
for (const signal of ["SIGINT", "SIGTERM"] as const) process.once(signal, () => stop.abort());

await main();

function readFlags(): { once: boolean; wanted: number } {
  try {
    const { once = false, port } = parseArgs({ options: { once: { type: "boolean" }, port: { type: "string" } } }).values;
    // The demo takes any port, so that it runs beside `npm start`.
    const wanted = Number(port ?? (once ? 0 : 4310));
    if (!Number.isInteger(wanted) || wanted < 0 || wanted > 65_535) throw new Error(`--port takes a number from 0 to 65535, not ${port}`);
    return { once, wanted };
  } catch (error) {
    return giveUp(error);
  }
}

/** Says in one line why there is nothing to start. */
function giveUp(error: unknown): never {
  console.error(error instanceof Error ? error.message : error);
  process.exit(1);
}

async function main(): Promise<void> {
  const { model, words } = await chooseModel().catch(giveUp);
  const server = await start(model);
  console.log(`Orcha serves at ${server.url}, sessions are in ${file}.`);
  console.log("No token is set, so only this machine may call.");
  console.log(`${words}\n`);
  try {
    const sessionId = await showConversation(server);
    if (!once) {
      console.log(lookFurther(server, sessionId));
      await stopped();
      console.log("\nClosing.");
    }
  } catch (error) {
    if (!stop.signal.aborted) throw error;
  } finally {
    await server.close();
  }
}

async function start(model: Awaited<ReturnType<typeof chooseModel>>["model"]): Promise<OrchaServer> {
  mkdirSync(folder, { recursive: true });
  const store = await sqliteStore({ file });
  try {
    return await serve({ agents, implementations: implementationsOn(model), store, port: wanted });
  } catch (error) {
    await store.close();
    if (error instanceof Error && "code" in error && error.code === "EADDRINUSE") {
      console.error(`Port ${wanted} is taken. Another one: npm start -- --port 4311`);
      process.exit(1);
    }
    throw error;
  }
}

async function showConversation(server: OrchaServer): Promise<string> {
  const orcha = createOrcha<typeof agents>({ baseUrl: server.url });
  const decide: Decide = ({ amount, currency }) => ask(`Approve a refund of ${amount} ${currency}?`);
  const sessionId = await converse(orcha.supportAgent, decide, stop.signal);
  console.log(`\nWhat an app shows of it:\n${renderHistory(await orcha.supportAgent.history(sessionId, { page: 1, pageSize: 25 }))}\n`);
  return sessionId;
}

/** Asks on a terminal; elsewhere the question stays open, except in the demo, which approves. */
async function ask(question: string): Promise<boolean | undefined> {
  if (once) {
    console.log(`${question} yes`);
    return true;
  }
  if (!process.stdin.isTTY) {
    console.log(`${question} The approval waits, in a terminal you would be asked.`);
    return undefined;
  }
  const terminal = createInterface({ input: process.stdin, output: process.stdout });
  // readline takes Ctrl-C for itself while it asks.
  terminal.once("SIGINT", () => stop.abort());
  // Ctrl-D ends the asking, and of the question some versions of Node say no more.
  const left = new Promise<undefined>((resolve) => terminal.once("close", () => resolve(undefined)));
  try {
    const answer = await Promise.race([terminal.question(`${question} [y/n] `, { signal: stop.signal }).catch(unlessLeft), left]);
    if (answer === undefined) console.log("\nThe approval waits.");
    return answer === undefined ? undefined : /^y(es)?$/i.test(answer.trim());
  } finally {
    terminal.close();
  }
}

/** Nothing where the question was left open; what interrupts the program goes on. */
function unlessLeft(error: unknown): undefined {
  if (stop.signal.aborted) throw error;
}

function lookFurther({ url }: OrchaServer, sessionId: string): string {
  const orcha = "npm run -s orcha --";
  const api = `${url}/api/agents/supportAgent`;
  return [
    "Go on from another terminal:",
    `  this conversation   ${orcha} chat supportAgent --session ${sessionId} --url ${url}`,
    `  a new one           ${orcha} chat supportAgent --url ${url}`,
    `  over HTTP           curl ${api}/runs -H 'Content-Type: application/json' -d '{"content":"Where is order A-1043?"}'`,
    `  the sessions        curl '${api}/sessions'`,
    "  this program        examples/support/src/main.ts",
    "Ctrl-C ends the server.",
  ].join("\n");
}

function stopped(): Promise<void> {
  return new Promise((resolve) => {
    if (stop.signal.aborted) resolve();
    else stop.signal.addEventListener("abort", () => resolve(), { once: true });
  });
}
