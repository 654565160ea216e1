import { createInterface } from "node:readline/promises";
import type { Command } from "commander";
import { withExamples } from "./flags.ts";
import { CommandFailure, wrongUsage } from "./failure.ts";
import { addQuestion } from "./reading.ts";
import type { Terminal } from "./terminal.ts";
import { plain } from "./text.ts";

interface Flags {
  yes?: boolean;
}

/** `orcha delete`: removes a session for good, after a question. */
export function addDelete(program: Command, terminal: Terminal): void {
  const command = program
    .command("delete")
    .argument("<session>")
    .description("Deletes a session for good, with the sessions that it delegated to; its id is never used again")
    .option("-y, --yes", "without asking");
  addQuestion(command, terminal, async (target, sessionId) => {
    const { yes } = command.opts<Flags>();
    if (yes !== true) await confirm(terminal, sessionId);
    await target.call("delete", { sessionId });
    return { answer: { deleted: sessionId }, text: () => `Deleted ${plain(sessionId)}.\n` };
  });
  withExamples(command, [["orcha delete ses_1 --yes --file orcha.db --agent supportAgent", "for a script"]]);
}

async function confirm(terminal: Terminal, sessionId: string): Promise<void> {
  if (!terminal.canAsk) throw wrongUsage("this deletes for good: add --yes to mean it");
  const lines = createInterface({ input: process.stdin, output: process.stderr });
  // readline takes Ctrl-C for itself while it asks.
  lines.once("SIGINT", () => process.kill(process.pid, "SIGINT"));
  try {
    const answer = await lines.question(`Delete ${plain(sessionId)} for good? [y/N] `);
    if (!/^y(es)?$/i.test(answer.trim())) throw new CommandFailure("nothing was deleted");
  } finally {
    lines.close();
  }
}
