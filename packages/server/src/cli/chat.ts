import type { Command } from "commander";
import { commandAfter } from "./again.ts";
import { clientOf, describeAgent, toCommandFailure } from "./connect.ts";
import { Conversation } from "./conversation.ts";
import { targetFlags, withExamples, withTarget } from "./flags.ts";
import { LineReader } from "./line-reader.ts";
import { checkOpening, readOpening, withOpening, type OpeningFlags } from "./run-input.ts";
import { openTarget, type TargetFlags } from "./target.ts";
import type { Terminal } from "./terminal.ts";

interface Flags extends OpeningFlags {
  session?: string;
}

/** `orcha chat`: a conversation with an agent. */
export function addChat(program: Command, terminal: Terminal): void {
  const command = program
    .command("chat")
    .argument("[agent]", "which agent; needless where there is only one")
    .description("Talks to an agent in the terminal, or through a pipe a line at a time")
    .option("-s, --session <id>", "goes on with this session instead of a new one");
  withOpening(withTarget(command)).action(async (agent: string | undefined) => {
    const flags: TargetFlags = { ...targetFlags(command), ...(agent === undefined ? {} : { agent }) };
    await chat(terminal, flags, command.opts<Flags>());
  });
  withExamples(command, [
    ["orcha chat supportAgent", "a new session"],
    ["orcha chat supportAgent --session ses_1 --url https://orcha.example", "goes on with one on a server"],
    ["echo 'Where is order A-1042?' | orcha chat supportAgent", "without a person"],
  ]);
}

async function chat(terminal: Terminal, flags: TargetFlags, given: Flags): Promise<void> {
  checkOpening(given, given.session);
  const opening = readOpening(given);
  const target = await openTarget(flags, { mustExist: given.session !== undefined, mustRun: true });
  let lines: LineReader | undefined;
  try {
    const description = await describeAgent(target);
    if (terminal.canAsk) terminal.note(terminal.style("dim", `Talking to ${target.agent}. /help says more; Ctrl-D leaves.`));
    lines = new LineReader(terminal);
    const conversation = new Conversation({ terminal, lines, client: clientOf(target), description, opening }, given.session);
    await conversation.talk();
    const { sessionId } = conversation;
    if (sessionId !== undefined) terminal.note(`${terminal.canAsk ? "\n" : ""}Come back: ${commandAfter(flags, "chat", target.agent, "--session", sessionId)}`);
  } catch (error) {
    throw toCommandFailure(error);
  } finally {
    lines?.close();
    await target.close();
  }
}
