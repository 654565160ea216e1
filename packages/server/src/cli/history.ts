import type { SessionHistory } from "@orcha/contract";
import type { Command } from "commander";
import { withExamples } from "./flags.ts";
import { footer, withPage, type PageFlags } from "./page.ts";
import { addQuestion } from "./reading.ts";
import { statusStyle, table } from "./table.ts";
import type { Terminal } from "./terminal.ts";
import { time } from "./text.ts";

type Item = SessionHistory["items"][number];

/** `orcha history`: a page of what an app shows. */
export function addHistory(program: Command, terminal: Terminal): void {
  const command = withPage(program.command("history").argument("<session>").description("Shows a page of what an app renders, the newest page first"));
  addQuestion(command, terminal, async (target, sessionId) => {
    const { page, pageSize } = command.opts<PageFlags>();
    const answer = await target.call<SessionHistory>("history", { sessionId, page, pageSize });
    return { answer, text: () => textOf(terminal, answer) };
  });
  withExamples(command, [
    ["orcha history ses_1 --file orcha.db --agent supportAgent", "the newest fifty items"],
    ["orcha history ses_1 --page 2 --page-size 10", "ten older ones"],
  ]);
}

function textOf(terminal: Terminal, history: SessionHistory): string {
  const rows = history.items.map((item) => [time(item.createdAt), kindOf(item), "status" in item ? String(item.status) : "", wordsOf(item)]);
  const columns = [{ title: "TIME" }, { title: "ITEM" }, { title: "STATUS", style: statusStyle }, { title: "TEXT" }];
  return table(terminal, columns, rows) + footer({ ...history, noun: "items" });
}

function kindOf(item: Item): string {
  return item.type === "message" ? item.role : item.type;
}

function wordsOf(item: Item): string {
  if (item.type === "message") {
    return item.content.map((block) => ("text" in block ? block.text : `[${block.type}]`)).join(" ");
  }
  if ("summary" in item && typeof item.summary === "string") return item.summary;
  return "reason" in item ? String(item.reason) : "";
}
