import { readFile } from "node:fs/promises";
import { text } from "node:stream/consumers";
import type { ResumeInput, RunInput } from "@orcha/client";
import { isPlainObject } from "@orcha/contract";
import { Option, type Command } from "commander";
import { wrongUsage } from "./failure.ts";

/** The flags of what a new session starts with. */
export interface OpeningFlags {
  name?: string;
  metadata?: string;
  variables?: string;
}

/** The flags of what is said. */
export interface RunFlags extends OpeningFlags {
  input?: string;
  inputFile?: string;
  session?: string;
  toolResults?: string;
}

/** What a new session starts with. */
export type Opening = Omit<RunInput, "content">;

/** What to send: a message that opens a session, or what an open one goes on with. */
export type RunRequest =
  | { sessionId: undefined; input: RunInput; isAnswer: false }
  | { sessionId: string; input: ResumeInput | undefined; isAnswer: boolean };

export function withOpening(command: Command): Command {
  return command
    .option("--name <text>", "a new session's name")
    .option("--metadata <json>", "its metadata, an object")
    .option("--variables <json>", "its variables, an object of texts: what the agent's instructions take");
}

export function withRunInput(command: Command): Command {
  return withOpening(
    command
      .option("-i, --input <text>", "what to say")
      .addOption(new Option("--input-file <path>", "a file that holds it; - reads the input").conflicts("input"))
      .option("-s, --session <id>", "goes on with this session instead of a new one")
      .addOption(
        new Option("--tool-results <path>", "a JSON file with answers to the client actions that wait; - reads the input").conflicts(["input", "inputFile"]),
      ),
  );
}

/** Reads what a new session starts with. */
export function readOpening({ name, metadata, variables }: OpeningFlags): Opening {
  return {
    ...(name === undefined ? {} : { name }),
    ...(metadata === undefined ? {} : { metadata: readObject("--metadata", metadata) }),
    // That each is a text is checked where all input is.
    ...(variables === undefined ? {} : { variables: readObject("--variables", variables) as Record<string, string> }),
  };
}

/** Says that a session which is there has its name and the like. */
export function checkOpening(flags: OpeningFlags, session: string | undefined): void {
  const given = (["name", "metadata", "variables"] as const).find((flag) => flags[flag] !== undefined);
  if (session !== undefined && given) throw wrongUsage(`--${given} is for a new session, not for one that is there`);
}

/** Reads what the flags send. */
export async function readRunInput(flags: RunFlags): Promise<RunRequest> {
  const { session, input, inputFile, toolResults } = flags;
  checkOpening(flags, session);
  if (toolResults !== undefined) {
    if (session === undefined) throw wrongUsage("--tool-results needs --session: whose client actions are answered?");
    return { sessionId: session, input: { toolResults: readResults(await readWhole(toolResults)) }, isAnswer: true };
  }
  const content = input ?? (inputFile === undefined ? undefined : await readWhole(inputFile));
  if (session !== undefined) return { sessionId: session, input: content === undefined ? undefined : { content }, isAnswer: false };
  if (content === undefined) throw wrongUsage("say something: --input TEXT, or --input-file FILE");
  return { sessionId: undefined, input: { content, ...readOpening(flags) }, isAnswer: false };
}

function readWhole(path: string): Promise<string> {
  return path === "-" ? text(process.stdin) : readFile(path, "utf8");
}

function readObject(flag: string, json: string): Record<string, unknown> {
  const value = readJson(flag, json);
  if (isPlainObject(value)) return value;
  throw wrongUsage(`${flag} must be a JSON object`);
}

/** What each result holds is checked where all input is. */
function readResults(json: string): Extract<ResumeInput, { toolResults: unknown }>["toolResults"] {
  const value = readJson("--tool-results", json);
  if (Array.isArray(value)) return value;
  throw wrongUsage('--tool-results must hold a JSON array, such as [{"callId":"call_1","output":{"approved":true}}]');
}

function readJson(flag: string, json: string): unknown {
  try {
    return JSON.parse(json);
  } catch (error) {
    throw wrongUsage(`${flag} is no JSON: ${error instanceof Error ? error.message : String(error)}`);
  }
}
