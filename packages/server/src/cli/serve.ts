import type { Command } from "commander";
import { wholeNumber, withExamples } from "./flags.ts";
import { wrongUsage } from "./failure.ts";
import { loadConfig } from "./load-config.ts";
import { chosenStore, openStore, type StoreFlags } from "./open-store.ts";
import type { Terminal } from "./terminal.ts";

interface Flags extends StoreFlags {
  config?: string;
  port?: number;
  hostname?: string;
}

/** `orcha serve`: serves the agents of the configuration until it is told to stop. */
export function addServe(program: Command, terminal: Terminal): void {
  const command = program
    .command("serve")
    .description("Serves the agents of orcha.config.ts over HTTP, until Ctrl-C")
    .option("-p, --port <number>", "the port; 0 takes any (default: 4310)", wholeNumber(0, 65_535))
    .option("--hostname <name>", "the address to listen at (default: 127.0.0.1)")
    .option("-f, --file <path>", "the SQLite file that holds the sessions")
    .option("-d, --database <url>", "the Postgres database that holds them")
    .option("-c, --config <path>", "the configuration (default: orcha.config.ts in this folder)")
    .action((flags: Flags) => serveUntilStopped(terminal, flags));
  withExamples(command, [
    ["orcha serve", "as orcha.config.ts says"],
    ["orcha serve --file orcha.db --port 8080", "another store, another port"],
  ]);
}

async function serveUntilStopped(terminal: Terminal, flags: Flags): Promise<void> {
  const signal = terminal.interrupts();
  const config = await loadConfig(flags.config);
  if (!config) throw wrongUsage("a server needs agents: write orcha.config.ts, or name one with --config");
  const { serve } = await import("../node.ts");
  const store = await openStore(chosenStore(flags, config.store), { mustExist: false });
  const { agents, implementations, tokens, cors, compress, maxImportBytes } = config;
  const { bearerTokens } = await import("../tokens.ts");
  try {
    const server = await serve({
      agents,
      store,
      port: flags.port ?? config.port ?? 4310,
      hostname: flags.hostname ?? config.hostname ?? "127.0.0.1",
      ...(implementations === undefined ? {} : { implementations }),
      ...(cors === undefined ? {} : { cors }),
      ...(compress === undefined ? {} : { compress }),
      ...(maxImportBytes === undefined ? {} : { maxImportBytes }),
      ...(tokens === undefined ? {} : { auth: bearerTokens(tokens) }),
    });
    await terminal.write(`Orcha serves ${Object.keys(agents).join(", ")} at ${server.url}\n`);
    if (tokens === undefined) terminal.note("No token is set, so only this machine may call.");
    if (!signal.aborted) await new Promise((resolve) => signal.addEventListener("abort", resolve, { once: true }));
    await server.close();
  } catch (error) {
    await store.close();
    throw error;
  }
}
