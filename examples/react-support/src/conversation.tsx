import { useHistory, type ConversationItem } from "@orcha/client/react";
import { useEffect, useRef, useState, type ReactElement, type RefObject } from "react";
import { ApprovalCard } from "./approval-card.tsx";
import { Composer } from "./composer.tsx";
import { orcha } from "./orcha.ts";
import { Message, textOf, TimelineItem } from "./timeline-item.tsx";
import { useAnchoredScroll } from "./use-anchored-scroll.ts";

interface Properties {
  sessionId: string;
  /** Why the message that should have opened it didn't arrive, where that is so. */
  unsent?: { fault: string; retry: () => void } | undefined;
}

/** A conversation: what was said, what waits, what is being said, and where to say more. */
export function Conversation({ sessionId, unsent }: Properties): ReactElement {
  const conversation = useHistory(orcha.supportAgent, sessionId, { pageSize: 20 });
  const { items, streaming, pendingClientActions, snapshot, isRunning, hasOlder, status, error, connection, ended } = conversation;
  const list = useRef<HTMLDivElement>(null);
  const heading = useRef<HTMLHeadingElement>(null);
  const field = useRef<HTMLTextAreaElement>(null);
  const { onScroll } = useAnchoredScroll(list);
  const older = useOlder(list, conversation);
  const [stopFault, setStopFault] = useState<string>();
  const stop = (): void => {
    setStopFault(undefined);
    conversation.stop().catch((cause: Error) => setStopFault(cause.message));
  };

  // Who opens a conversation from the list hears where they are.
  useEffect(() => heading.current?.focus({ preventScroll: true }), []);

  const waits = pendingClientActions.length > 0;
  return (
    <article className="conversation" aria-labelledby="conversation-title">
      <header>
        <a href="#" className="back" aria-label="All conversations">
          ←
        </a>
        <h1 id="conversation-title" ref={heading} tabIndex={-1}>
          {snapshot?.name ?? "Conversation"}
        </h1>
        <span className="connection" role="status" data-connection={connection}>
          {connection === "reconnecting" && "Reconnecting…"}
          {ended === "completed" && "Closed"}
          {ended === "deleted" && "Deleted"}
        </span>
      </header>

      {error && (
        <p role="alert" className="fault">
          {snapshot || !unsent ? error.message : `Not sent: ${unsent.fault}`}{" "}
          <button type="button" className="link" onClick={snapshot || !unsent ? conversation.retry : unsent.retry}>
            Try again
          </button>
        </p>
      )}

      {stopFault !== undefined && isRunning && (
        <p role="alert" className="fault">
          It couldn’t be stopped: {stopFault}
        </p>
      )}

      {/* A region that scrolls must be reachable, so that keys can scroll it. */}
      <section ref={list} className="timeline" aria-label="Messages" aria-busy={status === "pending"} tabIndex={0} onScroll={onScroll}>
        {hasOlder && (
          <button ref={older} type="button" className="older quiet" onClick={() => void conversation.fetchOlder()}>
            {conversation.isFetchingOlder ? "Loading…" : "Earlier messages"}
          </button>
        )}
        <ol>
          {items.map((item) => (
            <li key={item.id} data-item={item.id}>
              <TimelineItem item={item} />
            </li>
          ))}
        </ol>
        {streaming && (
          <div data-streaming aria-busy="true">
            <Message role="assistant" text={streaming.text} />
          </div>
        )}
        {isRunning && !streaming && <p className="thinking">…</p>}
        {pendingClientActions.map((pending) => (
          <ApprovalCard key={pending.callId} pending={pending} onFocusLost={() => field.current?.focus()} />
        ))}
      </section>

      <Announcer items={items} isRunning={isRunning} waits={waits} />
      {ended === undefined && status !== "error" && (
        <Composer
          label="Message"
          field={field}
          blocked={waits ? "Answer the approval first" : undefined}
          onStop={isRunning ? stop : undefined}
          onSend={(content) => void conversation.send(content)}
        />
      )}
    </article>
  );
}

interface AnnouncerProperties {
  items: readonly ConversationItem[];
  isRunning: boolean;
  waits: boolean;
}

/** Says what happens to those who don't see it: an answer once it is whole, never each of its words. */
function Announcer({ items, isRunning, waits }: AnnouncerProperties): ReactElement {
  const last = items.findLast((item) => item.type === "message");
  // What was there when the page came is no news.
  const [known, setKnown] = useState<string>();
  if (known === undefined && last) setKnown(last.id);
  const isNew = known !== undefined && last?.role === "assistant" && last.id !== known;
  return (
    <p className="hidden" role="status">
      {isRunning ? "Support is writing." : isNew ? `Support said: ${textOf(last.content)}` : ""}
      {waits ? " An approval waits for you." : ""}
    </p>
  );
}

/** Loads older messages when their button comes near, and again as long as it stays near. */
function useOlder(list: RefObject<HTMLElement | null>, { items, hasOlder, olderError, fetchOlder }: Older): RefObject<HTMLButtonElement | null> {
  const button = useRef<HTMLButtonElement>(null);
  const isWanted = hasOlder && !olderError;
  useEffect(() => {
    if (!button.current || !isWanted) return undefined;
    const observer = new IntersectionObserver((entries) => entries.some(({ isIntersecting }) => isIntersecting) && void fetchOlder(), {
      root: list.current,
      rootMargin: "200px 0px 0px",
    });
    observer.observe(button.current);
    return () => observer.disconnect();
  }, [list, items, isWanted, fetchOlder]);
  return button;
}

type Older = Pick<ReturnType<typeof useHistory>, "hasOlder" | "olderError" | "fetchOlder"> & { items: readonly ConversationItem[] };
