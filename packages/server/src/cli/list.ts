import type { SessionList } from "@orcha/contract";
import { Option, type Command } from "commander";
import { wholeNumber, withExamples } from "./flags.ts";
import { addQuestion } from "./reading.ts";
import { statusStyle, table } from "./table.ts";
import type { Terminal } from "./terminal.ts";
import { time } from "./text.ts";

interface Flags {
  status?: string;
  runStatus?: string;
  limit: number;
  cursor?: string;
}

/** `orcha list`: the newest sessions of an agent. */
export function addList(program: Command, terminal: Terminal): void {
  const command = program
    .command("list")
    .description("Lists an agent's sessions, the newest update first")
    .addOption(new Option("--status <status>", "only these").choices(["active", "paused", "completed"]))
    .option("--run-status <status>", "only these, such as waiting_for_client_action")
    .option("-n, --limit <number>", "how many", wholeNumber(1, 100), 50)
    .option("--cursor <cursor>", "goes on where an earlier list ended");
  addQuestion(command, terminal, async (target) => {
    const { status, runStatus, limit: pageSize, cursor } = command.opts<Flags>();
    const answer = await target.call<SessionList>("list", { pageSize, status, runStatus, cursor });
    return { answer, text: () => textOf(terminal, answer) };
  });
  withExamples(command, [
    ["orcha list --file orcha.db --agent supportAgent", "the newest fifty"],
    ["orcha list --run-status waiting_for_client_action", "what waits for a person"],
    ["orcha list --json | jq -r '.items[].sessionId'", "ids, for a script"],
  ]);
}

function textOf(terminal: Terminal, { items, nextCursor }: SessionList): string {
  if (items.length === 0) return "No sessions.\n";
  const rows = items.map(({ sessionId, status, runStatus, updatedAt, sequence, name, lastOutput }) => [
    sessionId,
    status === "active" ? (runStatus ?? status) : status,
    time(updatedAt),
    String(sequence),
    name ?? (typeof lastOutput === "string" ? lastOutput : ""),
  ]);
  const columns = [{ title: "SESSION" }, { title: "STATUS", style: statusStyle }, { title: "UPDATED" }, { title: "EVENTS" }, { title: "NAME" }];
  const more = nextCursor === undefined ? "" : `More: --cursor ${nextCursor}\n`;
  return table(terminal, columns, rows) + more;
}
