import { useRun } from "@orcha/client/react";
import { useState, type ReactElement } from "react";
import { Boundary } from "./boundary.tsx";
import { Composer } from "./composer.tsx";
import { Conversation } from "./conversation.tsx";
import { Inbox } from "./inbox.tsx";
import { orcha } from "./orcha.ts";
import { select, useSelected } from "./use-selected.ts";

/** The inbox beside the conversation that is open. */
export function App(): ReactElement {
  const sessionId = useSelected();
  // Here rather than where the message is written, which goes as soon as it is sent.
  const { run, sessionId: started, result, error } = useRun(orcha.supportAgent);
  const [said, setSaid] = useState("");
  const start = (content: string): void => {
    setSaid(content);
    select(run({ content, name: titleOf(content) }));
  };
  const fault = error?.message ?? (result?.status === "failed" ? result.error.message : undefined);
  const unsent = fault !== undefined && started === sessionId ? { fault, retry: () => start(said) } : undefined;
  return (
    <div className="app" data-open={sessionId !== undefined}>
      <Inbox selected={sessionId} />
      <main>
        {sessionId === undefined ? (
          <Welcome onSend={start} />
        ) : (
          <Boundary key={sessionId}>
            <Conversation sessionId={sessionId} unsent={unsent} />
          </Boundary>
        )}
      </main>
    </div>
  );
}

/** Where a new conversation begins: its session has an id before the server knows it, so it opens at once. */
function Welcome({ onSend }: { onSend: (content: string) => void }): ReactElement {
  return (
    <div className="welcome">
      <div>
        <h1>How can we help?</h1>
        <p>Ask about an order, such as A-1042, or how refunds work.</p>
      </div>
      <Composer label="New message" onSend={onSend} />
    </div>
  );
}

function titleOf(content: string): string {
  return content.length > 60 ? `${content.slice(0, 57).trimEnd()}…` : content;
}
