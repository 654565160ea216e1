import type { SessionSnapshot } from "@orcha/contract";
import type { Command } from "commander";
import { withExamples } from "./flags.ts";
import { addQuestion } from "./reading.ts";
import type { Terminal } from "./terminal.ts";
import { plain } from "./text.ts";

interface Flags {
  failed?: boolean;
  summary?: string;
}

/** `orcha complete`: ends a session. */
export function addComplete(program: Command, terminal: Terminal): void {
  const command = program
    .command("complete")
    .argument("<session>")
    .description("Ends a session: what waits is cancelled, and nothing more is appended")
    .option("--failed", "it did not reach its end")
    .option("--summary <text>", "what came of it");
  addQuestion(command, terminal, async (target, sessionId) => {
    const { failed, summary } = command.opts<Flags>();
    const answer = await target.call<SessionSnapshot>("complete", { sessionId, status: failed === true ? "failed" : "completed", summary });
    return { answer, text: () => `Completed ${plain(sessionId)}.\n` };
  });
  withExamples(command, [["orcha complete ses_1 --summary 'refunded.' --file orcha.db --agent supportAgent", "with a word on how it ended"]]);
}
