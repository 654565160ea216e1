import type { SessionSnapshot } from "@orcha/contract";
import type { Command } from "commander";
import { withExamples } from "./flags.ts";
import { addQuestion } from "./reading.ts";
import type { Terminal } from "./terminal.ts";
import { plain } from "./text.ts";

/** `orcha stop`: ends a session's run. */
export function addStop(program: Command, terminal: Terminal): void {
  const command = program.command("stop").argument("<session>").description("Ends a session's run and cancels what it waits for; the session stays open");
  addQuestion(command, terminal, async (target, sessionId) => {
    const answer = await target.call<SessionSnapshot>("stop", { sessionId });
    return { answer, text: () => `Stopped ${plain(sessionId)}.\n` };
  });
  withExamples(command, [["orcha stop ses_1 --url https://orcha.example --agent supportAgent", "keeps what was said"]]);
}
