import type { AgentMessage } from "@orcha/contract";
import type { Command } from "commander";
import { withExamples } from "./flags.ts";
import { addQuestion } from "./reading.ts";
import { table } from "./table.ts";
import type { Terminal } from "./terminal.ts";

/** `orcha messages`: what the model sees. */
export function addMessages(program: Command, terminal: Terminal): void {
  const command = program.command("messages").argument("<session>").description("Shows the conversation as the model sees it");
  addQuestion(command, terminal, async (target, sessionId) => {
    const answer = await target.call<AgentMessage[]>("messages", { sessionId });
    return { answer, text: () => textOf(terminal, answer) };
  });
  withExamples(command, [
    ["orcha messages ses_1 --file orcha.db --agent supportAgent", "one line a message"],
    ["orcha messages ses_1 --json > messages.json", "a file that orcha import takes"],
  ]);
}

function textOf(terminal: Terminal, messages: readonly AgentMessage[]): string {
  if (messages.length === 0) return "No messages.\n";
  const rows = messages.map(({ role, name, content, tool_calls: calls = [], tool_call_id: id }) => [
    role,
    name ?? "",
    [content ?? "", ...calls.map((call) => `→ ${call.function.name}(${call.function.arguments}) ${call.id}`), ...(id === undefined ? [] : [`← ${id}`])].join(" "),
  ]);
  return table(terminal, [{ title: "ROLE" }, { title: "NAME" }, { title: "CONTENT" }], rows);
}
