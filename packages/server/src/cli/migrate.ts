import type { Command } from "commander";
import { withExamples } from "./flags.ts";
import { loadConfig } from "./load-config.ts";
import { chosenStore, openStore, type StoreFlags } from "./open-store.ts";
import type { Terminal } from "./terminal.ts";

/** `orcha migrate`: brings a store's schema up to date, as every opening of it does. */
export function addMigrate(program: Command, terminal: Terminal): void {
  const command = program
    .command("migrate")
    .description("Makes a store, or brings its schema up to date, and does nothing else")
    .option("-f, --file <path>", "the SQLite file")
    .option("-d, --database <url>", "the Postgres database")
    .option("-c, --config <path>", "the configuration (default: orcha.config.ts in this folder)")
    .action(async (flags: StoreFlags & { config?: string }) => {
      const config = await loadConfig(flags.config);
      const store = await openStore(chosenStore(flags, config?.store), { mustExist: false });
      await store.close();
      await terminal.write("The store is up to date.\n");
    });
  withExamples(command, [["orcha migrate --database postgres://localhost/orcha", "before servers of a new version start"]]);
}
