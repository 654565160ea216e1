import type { Command } from "commander";
import { targetFlags, withJson, withTarget } from "./flags.ts";
import { openTarget, type Target } from "./target.ts";
import type { Terminal } from "./terminal.ts";

/** Adds a command that asks one question and prints the answer. */
export function addQuestion(
  command: Command,
  terminal: Terminal,
  ask: (target: Target, sessionId: string) => Promise<{ answer: unknown; text: () => string }>,
): void {
  withJson(withTarget(command)).action(async () => {
    const target = await openTarget(targetFlags(command));
    try {
      const { answer, text } = await ask(target, command.args[0] ?? "");
      const { json } = command.opts<{ json?: boolean }>();
      await terminal.write(json === true ? `${JSON.stringify(answer)}\n` : text());
    } finally {
      await target.close();
    }
  });
}
