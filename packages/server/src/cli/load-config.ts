import { existsSync } from "node:fs";
import { resolve } from "node:path";
import { pathToFileURL } from "node:url";
import type { OrchaConfig } from "./config.ts";
import { configFault } from "./config-fault.ts";
import { CommandFailure, wordsOf, wrongUsage } from "./failure.ts";

const names = ["orcha.config.ts", "orcha.config.mts", "orcha.config.js", "orcha.config.mjs"];

/** Loads the configuration that a flag names, or the one of this folder; nothing where there is none. */
export async function loadConfig(path: string | undefined): Promise<OrchaConfig | undefined> {
  const file = path ?? names.find((name) => existsSync(name));
  if (file === undefined) return undefined;
  if (!existsSync(file)) throw wrongUsage(`there is no configuration file ${file}`);
  let loaded: { default?: unknown };
  try {
    // Node strips the types itself.
    loaded = (await import(pathToFileURL(resolve(file)).href)) as typeof loaded;
  } catch (error) {
    throw new CommandFailure(`${file} can't be loaded: ${wordsOf(error)}`);
  }
  const config = loaded.default;
  if (typeof config !== "object" || config === null || !("agents" in config)) {
    throw new CommandFailure(`${file} needs a default export: export default defineConfig({ agents })`);
  }
  const fault = configFault(config);
  if (fault !== undefined) throw new CommandFailure(`${file}: ${fault}`);
  return config as OrchaConfig;
}
