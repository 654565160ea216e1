import type { MessageContent } from "@orcha/client";
import type { ConversationItem } from "@orcha/client/react";
import { memo, type ReactElement } from "react";

/** One item of a conversation. It renders again only when it changes: items that don't stay the same objects. */
export const TimelineItem = memo(function TimelineItem({ item }: { item: ConversationItem }): ReactElement | null {
  switch (item.type) {
    case "message":
      return <Message role={item.role} text={textOf(item.content)} isIncomplete={item.incomplete} sending={item.sending} />;
    case "client_action":
      // While it waits, its card says more.
      return item.status === "waiting" ? null : <p className={`event ${item.status}`}>{sentenceOf(item.summary)}</p>;
    case "action":
    case "subagent":
    case "skill":
    case "evaluation":
    case "session_completed":
      return <p className={`event ${item.status}`}>{sentenceOf(item.summary)}</p>;
    case "unreadable":
      return <p className="event failed">An entry can’t be read.</p>;
    default:
      return null;
  }
});

interface MessageProperties {
  role: "user" | "assistant";
  text: string;
  isIncomplete?: boolean | undefined;
  sending?: Extract<ConversationItem, { type: "message" }>["sending"];
}

/** What somebody said. */
export function Message({ role, text, isIncomplete, sending }: MessageProperties): ReactElement {
  return (
    <div className={`message ${role}`} data-sending={sending?.status}>
      <span className="hidden">{role === "user" ? "You said: " : "Support said: "}</span>
      <p>{text}</p>
      {isIncomplete === true && <small>Stopped</small>}
      {sending?.status === "failed" && (
        <small role="alert">
          Not sent: {sending.error?.message}{" "}
          <button type="button" className="link" onClick={sending.retry}>
            Try again
          </button>{" "}
          <button type="button" className="link" onClick={sending.discard}>
            Discard
          </button>
        </small>
      )}
    </div>
  );
}

/** The text of a message; other content is named. */
export function textOf(content: readonly MessageContent[]): string {
  return content.map((block) => (block.type === "text" ? block.text : `[${block.type}]`)).join("\n");
}

function sentenceOf(summary: string): string {
  return summary.charAt(0).toUpperCase() + summary.slice(1);
}
