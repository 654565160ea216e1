import { cutText, type HistoryItem, type MessageContent } from "@orcha/contract";
import type { Terminal } from "./terminal.ts";
import { plain, printable } from "./text.ts";

type Item = HistoryItem;
type MessageItem = Extract<Item, { type: "message" }>;

/** The text of a message; what is no text is named. */
export function messageText({ role, content, incomplete }: MessageItem): string {
  // A model's blocks go on where the last one ended, as they did in the making.
  const text = content.map(blockText).join(role === "assistant" ? "" : "\n");
  return printable(incomplete === true ? `${text} …` : text);
}

function blockText(block: MessageContent): string {
  return "text" in block ? block.text : `[${block.type}]`;
}

/** What a conversation shows of an item: a message as it was said, anything else in one dim line. */
export function itemText(terminal: Terminal, item: Item): string {
  if (item.type !== "message") return terminal.style("dim", `  ${lineOf(item)}`);
  const text = messageText(item);
  return item.role === "user" ? `${terminal.style("bold", ">")} ${text}` : text;
}

function lineOf(item: Exclude<Item, MessageItem>): string {
  switch (item.type) {
    case "action":
    case "client_action":
      return `${marks[item.status]} ${plain(item.summary)}${item.arguments === undefined ? "" : ` ${argumentsText(item.arguments)}`}`;
    case "subagent":
      return `${marks[item.status]} ${plain(item.summary)} ${plain(item.childSessionId)}`;
    case "skill":
    case "session_completed":
      return `${marks[item.status]} ${plain(item.summary)}`;
    case "evaluation":
      return `${marks[item.status]} ${plain(item.summary)}${item.metrics.map(({ name, score }) => ` ${plain(name)} ${score}`).join(",")}`;
    case "unreadable":
      return `? ${plain(item.reason)}`;
    default:
      return `? ${plain(item.originalType)}`;
  }
}

const marks = { running: "…", waiting: "?", paused: "…", completed: "✓", failed: "✗" } as const;

/** A call's arguments on one line of bearable length. */
export function argumentsText(value: unknown): string {
  return cutText(plain(JSON.stringify(value) ?? ""), 200);
}
