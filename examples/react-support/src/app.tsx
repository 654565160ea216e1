import { useRun } from "@orcha/client/react";
import type { ReactElement } from "react";
import { Composer } from "./composer.tsx";
import { Conversation } from "./conversation.tsx";
import { Inbox } from "./inbox.tsx";
import { orcha } from "./orcha.ts";
import { select, useSelected } from "./use-selected.ts";

/** The inbox beside the conversation that is open. */
export function App(): ReactElement {
  const sessionId = useSelected();
  return (
    <div className="app" data-open={sessionId !== undefined}>
      <Inbox selected={sessionId} />
      <main>{sessionId === undefined ? <Welcome /> : <Conversation key={sessionId} sessionId={sessionId} />}</main>
    </div>
  );
}

/** Where a new conversation begins: its session has an id before the server knows it, so it opens at once. */
function Welcome(): ReactElement {
  const { run } = useRun(orcha.supportAgent);
  return (
    <div className="welcome">
      <div>
        <h1>How can we help?</h1>
        <p>Ask about an order, such as A-1042, or how refunds work.</p>
      </div>
      <Composer label="New message" onSend={(content) => select(run({ content, name: titleOf(content) }))} />
    </div>
  );
}

function titleOf(content: string): string {
  return content.length > 60 ? `${content.slice(0, 57).trimEnd()}…` : content;
}
