import type { SessionEvents } from "@orcha/contract";
import type { Command } from "commander";
import { withExamples } from "./flags.ts";
import { footer, withPage, type PageFlags } from "./page.ts";
import { addQuestion } from "./reading.ts";
import { table } from "./table.ts";
import type { Terminal } from "./terminal.ts";
import { time } from "./text.ts";

/** `orcha events`: a page of the log. */
export function addEvents(program: Command, terminal: Terminal): void {
  const command = withPage(program.command("events").argument("<session>").description("Shows a page of the log, the newest page first"));
  addQuestion(command, terminal, async (target, sessionId) => {
    const { page, pageSize } = command.opts<PageFlags>();
    const answer = await target.call<SessionEvents>("events", { sessionId, page, pageSize });
    return { answer, text: () => textOf(terminal, answer) };
  });
  withExamples(command, [
    ["orcha events ses_1 --file orcha.db --agent supportAgent", "the newest fifty events"],
    ["orcha events ses_1 --json | jq '.events[].type'", "their types"],
  ]);
}

function textOf(terminal: Terminal, log: SessionEvents): string {
  const rows = log.events.map((event) => [
    String(event.sequence),
    time(event.timestamp),
    "run" in event && event.run !== undefined ? String(event.run) : "",
    event.type,
    JSON.stringify(event.data),
  ]);
  return table(terminal, [{ title: "#" }, { title: "TIME" }, { title: "RUN" }, { title: "TYPE" }, { title: "DATA" }], rows) + footer({ ...log, noun: "events" });
}
