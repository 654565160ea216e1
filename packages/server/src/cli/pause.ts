import type { SessionSnapshot } from "@orcha/contract";
import type { Command } from "commander";
import { withExamples } from "./flags.ts";
import { addQuestion } from "./reading.ts";
import type { Terminal } from "./terminal.ts";
import { plain } from "./text.ts";

/** `orcha pause`: lets a session rest. */
export function addPause(program: Command, terminal: Terminal): void {
  const command = program.command("pause").argument("<session>").description("Interrupts a session's run and lets it rest, until orcha run or orcha chat goes on with it");
  addQuestion(command, terminal, async (target, sessionId) => {
    const answer = await target.call<SessionSnapshot>("pause", { sessionId });
    return { answer, text: () => `Paused ${plain(sessionId)}.\n` };
  });
  withExamples(command, [["orcha pause ses_1 --url https://orcha.example --agent supportAgent", "the action at work finishes first"]]);
}
