import { Command } from "commander";
import { addChat } from "./chat.ts";
import { addComplete } from "./complete.ts";
import { addDelete } from "./delete.ts";
import { addEvents } from "./events.ts";
import { addExport } from "./export.ts";
import { addGenerate } from "./generate.ts";
import { addHistory } from "./history.ts";
import { addImport } from "./import.ts";
import { addList } from "./list.ts";
import { addMessages } from "./messages.ts";
import { addMigrate } from "./migrate.ts";
import { addPause } from "./pause.ts";
import { addRun } from "./run.ts";
import { addServe } from "./serve.ts";
import { addStop } from "./stop.ts";
import type { Terminal } from "./terminal.ts";
import { withExamples } from "./flags.ts";
import { packageVersion } from "./package-version.ts";

/** In the order of the help: serving and talking, reading, ending, and files. */
const commands = [
  [addServe, addRun, addChat],
  [addList, addHistory, addEvents, addMessages],
  [addPause, addStop, addComplete, addDelete],
  [addImport, addExport, addMigrate, addGenerate],
].flat();

/** Puts the commands together. */
export function createProgram(terminal: Terminal): Command {
  const program = new Command("orcha")
    .description("Keeps the conversations that people have with AI agents, and opens them again.")
    .version(packageVersion(), "-V, --version", "the version of the command and of its server")
    .configureHelp({ showGlobalOptions: true })
    .configureOutput({ outputError: (text) => terminal.fail(oneLine(text)) })
    .exitOverride();
  for (const add of commands) add(program, terminal);
  // Each command was made with `program.command`, which hands down how errors are told.
  return withExamples(program, [
    ["orcha serve", "serve the agents of orcha.config.ts"],
    ["orcha chat supportAgent", "talk to an agent in the terminal"],
    ["orcha import log.jsonl --file orcha.db", "take a log of OrchaJS over"],
    ["orcha list --file orcha.db --agent supportAgent", "the newest sessions"],
    ["orcha history ses_1 --url https://orcha.example", "a page of what the app shows"],
    ["orcha export --file orcha.db > backup.jsonl", "everything of an agent, in one file"],
    ["orcha generate --out src/orcha.gen.ts", "a typed client for an app without the definitions"],
  ]);
}

/** Commander says what is wrong, and sometimes, on a line of its own, what was meant. */
function oneLine(text: string): string {
  return text.replace(/^error: /, "").trim().replaceAll(/\s*\n\s*/g, " ");
}
