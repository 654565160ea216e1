import type { HistoryItem, SessionHistory } from "@orcha/client";

/** Writes a history page as a person would want to read it in a terminal. */
export function renderHistory(history: SessionHistory): string {
  const { sessionId, agent, runStatus, page, pageSize, total } = history;
  const pages = Math.max(1, Math.ceil(total / pageSize));
  const state = (runStatus ?? history.status).replaceAll("_", " ");
  const lines = history.items.map((item) => `  ${item.createdAt.slice(11, 19)}  ${renderItem(item)}`);
  return [`${agent} · ${sessionId} · ${state}`, ...lines, `  page ${page} of ${pages}, ${total} items`].join("\n");
}

function renderItem(item: HistoryItem): string {
  switch (item.type) {
    case "message": {
      const text = item.content.map((block) => (block.type === "text" ? block.text : `[${block.type}]`)).join(" ");
      return `${item.role === "user" ? "Customer " : "Assistant"}  ${text}${item.incomplete ? " …" : ""}`;
    }
    case "action":
    case "client_action":
      return `${mark(item.status)} ${item.summary}${item.arguments === undefined ? "" : `  ${JSON.stringify(item.arguments)}`}`;
    case "subagent":
    case "skill":
    case "evaluation":
    case "session_completed":
      return `${mark(item.status)} ${item.summary}`;
    case "unreadable":
      return `? ${item.reason}`;
    case "unknown":
      return `? ${item.originalType}, which this version doesn't know`;
    default:
      return item satisfies never;
  }
}

function mark(status: "running" | "waiting" | "paused" | "completed" | "failed"): string {
  return { running: "…", waiting: "⏳", paused: "⏸", completed: "✓", failed: "✗" }[status];
}
