import { InvalidArgumentError, Option, type Command } from "commander";
import { wrongUsage } from "./failure.ts";
import type { TargetFlags } from "./target.ts";

/** Adds the flags that say which sessions a command is about. */
export function withTarget(command: Command): Command {
  return command
    .option("-a, --agent <name>", "the agent whose sessions these are; needless where there is only one")
    .option("-f, --file <path>", "the SQLite file that holds the sessions")
    .option("-d, --database <url>", "the Postgres database that holds them")
    .option("-c, --config <path>", "the configuration (default: orcha.config.ts in this folder)")
    .option("--tenant <name>", 'the tenant in the store (default: "default")')
    .addOption(new Option("-u, --url <url>", "a server instead of a store").env("ORCHA_URL"))
    .addOption(new Option("--token <token>", "the token for that server").env("ORCHA_TOKEN"));
}

/** The flags that only a store of this machine has a use for. */
const storeFlags = ["file", "database", "config", "tenant"] as const;

/**
 * The flags of a command; a server of the environment gives way to a store that was typed. Throws where a store and a
 * server were both typed.
 */
export function targetFlags(command: Command): TargetFlags {
  const flags = command.opts<TargetFlags>();
  const ofStore = storeFlags.find((flag) => flags[flag] !== undefined);
  const ofServer = (["url", "token"] as const).find((flag) => command.getOptionValueSource(flag) === "cli");
  if (ofStore !== undefined && ofServer !== undefined) {
    throw wrongUsage(`--${ofStore} is for a store of this machine; with --${ofServer} the server and the token decide`);
  }
  if (isServerMeant(command, ofStore !== undefined)) return flags;
  const { url: _url, ...rest } = flags;
  return rest;
}

/** Tells whether `--url` counts: what the environment says gives way to what `isTyped` instead, and is none where it is blank. */
export function isServerMeant(command: Command, isTyped: boolean): boolean {
  if (command.getOptionValueSource("url") !== "env") return true;
  return !isTyped && command.opts<TargetFlags>().url?.trim() !== "";
}

/** Adds `--json`. */
export function withJson(command: Command): Command {
  return command.option("-j, --json", "JSON, for scripts");
}

/** Shows how a command is used, below its help. */
export function withExamples(command: Command, examples: readonly [line: string, what: string][]): Command {
  const width = Math.max(...examples.map(([line]) => line.length));
  const lines = examples.map(([line, what]) => `  ${line.padEnd(width)}   ${what}`);
  return command.addHelpText("after", `\nExamples:\n${lines.join("\n")}`);
}

/** Reads a flag's whole number. */
export function wholeNumber(least: number, most: number): (text: string) => number {
  return (text) => {
    const number = Number(text);
    if (/^\d+$/.test(text) && number >= least && number <= most) return number;
    throw new InvalidArgumentError(`It must be a whole number from ${least} to ${most}.`);
  };
}
