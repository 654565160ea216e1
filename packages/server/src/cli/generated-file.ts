import { readFile } from "node:fs/promises";
import { originOf, writeModule } from "../generate/module.ts";
import { changesBetween, partsOf, type Change } from "../generate/parts.ts";
import { surroundings } from "../surroundings.ts";
import { definitionsOf, type DefinitionFlags } from "./described.ts";
import { CommandFailure, wrongUsage } from "./failure.ts";
import { count } from "./progress.ts";
import type { Terminal } from "./terminal.ts";
import { plain } from "./text.ts";
import { writeWhole } from "./whole-file.ts";

/** The flags of `orcha generate`. */
export interface GenerateFlags extends DefinitionFlags {
  out: string;
  check?: boolean;
}

/** Writes the module where it isn't up to date, or only says whether it is, and what has changed. */
export async function generateFile(terminal: Terminal, flags: GenerateFlags): Promise<void> {
  const { out } = flags;
  const existing = await readExisting(out);
  const origin = existing === undefined ? undefined : originOf(existing);
  if (existing !== undefined && !origin) throw new CommandFailure(`${out} isn't a file of orcha generate: name another, or delete it`);
  if (flags.check === true && !origin) throw new CommandFailure(`there is no file ${out}. Make it: orcha generate`);
  const { definitions, baseUrl } = await definitionsOf(flags);
  const changes = origin ? changesBetween(origin.parts, await partsOf(definitions.agents, digest)) : [];
  if (flags.check === true) {
    if (origin?.version === definitions.version) return terminal.write(`${out} is up to date.\n`);
    await terminal.write(listOf(changes));
    throw new CommandFailure(`${out} is out of date. Make it anew: orcha generate`);
  }
  if (baseUrl === undefined) throw wrongUsage("the configuration takes any port: say where clients find the server with --base-url");
  const text = await writeModule(definitions, baseUrl, digest);
  if (text === existing) return terminal.write(`${out} is up to date.\n`);
  await writeWhole(out, [text]);
  await terminal.write(`Wrote ${out}: ${count(Object.keys(definitions.agents).length, "agent")}.\n${listOf(changes)}`);
}

function digest(text: string): string | Promise<string> {
  return surroundings.digest(text);
}

/** How many changes are named one by one. */
const maxNamed = 30;

function listOf(changes: readonly Change[]): string {
  const lines = changes.slice(0, maxNamed).map(({ kind, path }) => `  ${kind.padEnd(7)}  ${plain(path)}\n`);
  if (changes.length > maxNamed) lines.push(`  … and ${changes.length - maxNamed} more\n`);
  return lines.join("");
}

async function readExisting(path: string): Promise<string | undefined> {
  try {
    return await readFile(path, "utf8");
  } catch (error) {
    if (codeOf(error) === "ENOENT") return undefined;
    throw error;
  }
}

function codeOf(error: unknown): string | undefined {
  return error instanceof Error && "code" in error && typeof error.code === "string" ? error.code : undefined;
}
