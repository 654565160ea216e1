import type { SessionSnapshot } from "@orcha/client";
import { useSessions } from "@orcha/client/react";
import type { ReactElement } from "react";
import { orcha } from "./orcha.ts";

/** All conversations, the last changed first. */
export function Inbox({ selected }: { selected: string | undefined }): ReactElement {
  const { sessions, hasMore, isFetchingMore, fetchMore, status, error } = useSessions(orcha.supportAgent, { pageSize: 20, pollMs: 10_000 });
  return (
    <nav className="inbox" aria-label="Conversations">
      <header>
        <h2>Conversations</h2>
        <a className="button" href="#">
          New
        </a>
      </header>
      {error && <p role="alert">{error.message}</p>}
      {status === "success" && sessions.length === 0 && <p className="quiet">Nothing yet.</p>}
      <ul>
        {sessions.map((session) => (
          <li key={session.sessionId}>
            <a href={`#${encodeURIComponent(session.sessionId)}`} aria-current={session.sessionId === selected ? "page" : undefined}>
              <span className="title">{session.name ?? "Untitled"}</span>
              <Standing session={session} />
              <time dateTime={session.updatedAt}>{timeOf(session.updatedAt)}</time>
            </a>
          </li>
        ))}
      </ul>
      {hasMore && (
        <button type="button" className="quiet" disabled={isFetchingMore} onClick={() => void fetchMore()}>
          More
        </button>
      )}
    </nav>
  );
}

/** What an inbox must show at a glance: who has to act. */
function Standing({ session }: { session: Pick<SessionSnapshot, "status" | "runStatus"> }): ReactElement {
  const [kind, text] = standingOf(session);
  return <span className={`standing ${kind}`}>{text}</span>;
}

function standingOf({ status, runStatus }: Pick<SessionSnapshot, "status" | "runStatus">): [kind: string, text: string] {
  if (status === "completed") return ["over", "Closed"];
  if (runStatus === "waiting_for_client_action") return ["waiting", "Needs approval"];
  if (status === "paused") return ["over", "Paused"];
  if (runStatus === "running" || runStatus === "waiting_for_subagent") return ["running", "Answering"];
  if (runStatus === "failed") return ["failed", "Failed"];
  if (runStatus === "stopped") return ["over", "Stopped"];
  return ["over", runStatus === "completed" ? "Answered" : "Open"];
}

function timeOf(iso: string): string {
  const date = new Date(iso);
  const isToday = date.toDateString() === new Date().toDateString();
  return date.toLocaleString("en", isToday ? { timeStyle: "short" } : { dateStyle: "medium" });
}
